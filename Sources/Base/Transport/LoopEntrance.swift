/// An actor whose executor is a loop.
package protocol LoopResident: Actor {
  /// The loop on which the actor runs.
  nonisolated var loop: EventLoop { get }
}

/// A way for the loop to call an actor that lives on it.
///
/// It does what `assumeIsolated` does, whose questions to the runtime cost a fourth of a cached token's own instructions. It is made
/// once, and used without an allocation.
package struct LoopEntrance<Resident: LoopResident> {
  // Structures, because a function is wrapped where it is passed to a generic one such as `unsafeBitCast`.
  private struct Isolated { let body: (isolated Resident) -> Void }
  private struct Unisolated { let body: (Resident) -> Void }

  private let unisolated: Unisolated

  /// An entrance to what `body` does on the actor.
  package init(_ body: @escaping (isolated Resident) -> Void) {
    // The loop's thread is checked at each call; isolation is no part of how a function is called.
    unisolated = unsafe unsafeBitCast(Isolated(body: body), to: Unisolated.self)
  }

  /// Calls an actor on the loop that it lives on; traps on another thread.
  @inline(__always)
  package func enter(_ actor: Resident) {
    actor.loop.checkIsolated()
    unisolated.body(actor)
  }
}
