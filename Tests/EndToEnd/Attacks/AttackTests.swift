import TestSupport
import Testing

/// Attacks on the real daemon over real sockets, which `make test-attacks` runs, one after the other.
///
/// Beside each a well-behaved client asks for its token over and over. What it gets, how long it waits, what the daemon's
/// memory holds, and what the provider has been sent is judged in the same way everywhere: ``AttackStage``.
@Suite(.standardTimeLimit, .serialized) enum AttackTests {}
