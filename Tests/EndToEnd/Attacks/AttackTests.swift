import TestSupport
import Testing

/// Attacks on the real daemon over real sockets, which `make test-attacks` runs, one after the other.
///
/// Beside each a well-behaved client asks over and over. How long it waits, what the daemon's memory holds beyond its base,
/// and whether the client is refused anything is measured, printed and bounded in one way: ``Measurement``. What the provider
/// has been sent is judged by ``AttackStage``, where there is one.
///
/// Two attacks measure less. With few threads a daemon hardly starts, so that there is neither a client nor a base: its end
/// and its answers are judged alone. While passphrases are guessed the vault is locked: the client, which can have no token,
/// asks `ping`, and the memory of one key derivation is allowed.
@Suite(.standardTimeLimit, .serialized, .enabled(if: Processor.areTwo, "an attack is measured on two processors"))
enum AttackTests {}
