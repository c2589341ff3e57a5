/// A way for the loop to call an actor that lives on it.
///
/// It does what `assumeIsolated` does, whose questions to the runtime cost as much as the answer to a request. It is made
/// once, and used without an allocation.
package struct LoopEntrance<Resident: Actor> {
  // Structures, because a function is wrapped where it is passed to a generic one such as `unsafeBitCast`.
  private struct Isolated { let body: (isolated Resident) -> Void }
  private struct Unisolated { let body: (Resident) -> Void }

  private let unisolated: Unisolated

  /// An entrance to what `body` does on the actor.
  package init(_ body: @escaping (isolated Resident) -> Void) {
    // The thread and the executor are checked at each call; isolation is no part of how a function is called.
    unisolated = unsafe unsafeBitCast(Isolated(body: body), to: Unisolated.self)
  }

  /// Calls an actor on the loop that it lives on; traps on another thread, and where it lives elsewhere.
  @inline(__always)
  package func enter(_ actor: Resident, on loop: EventLoop) {
    loop.checkIsolated()
    // An executor reference is two words, of which the first one names the object; both executors live during the call.
    let home = unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
    // As above.
    let here = unsafe unsafeBitCast(loop.asUnownedSerialExecutor(), to: (UInt, UInt).self).0
    precondition(home == here, "the actor does not live on this loop")
    unisolated.body(actor)
  }
}
