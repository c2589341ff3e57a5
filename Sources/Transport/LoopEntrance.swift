extension EventLoop {
  /// Calls `body` on an actor of this loop, for what the loop calls.
  ///
  /// It does what `assumeIsolated` does, whose questions to the runtime cost as much as the answer to a request.
  @inlinable
  package func enter<Resident: Actor>(_ actor: Resident, _ body: (isolated Resident) -> Void) {
    checkIsolated()
    // An executor reference is two words, of which the first one names the object; both executors live during the call.
    let home = unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
    // As above.
    let here = unsafe unsafeBitCast(asUnownedSerialExecutor(), to: (UInt, UInt).self).0
    precondition(home == here, "the actor does not live on this loop")
    withoutActuallyEscaping(body) { body in
      // The thread and the executor are the actor's, as was checked; isolation is no part of how a function is called.
      unsafe unsafeBitCast(body, to: ((Resident) -> Void).self)(actor)
    }
  }
}
