extension EventLoop {
  /// Makes a function that calls `body` on an actor of a loop, for what the loop calls.
  ///
  /// It does what `assumeIsolated` does, whose questions to the runtime cost as much as the answer to a request. It is made
  /// once, and used without an allocation.
  ///
  /// - Parameter body: what is done there.
  /// - Returns: takes the loop, whose thread it must be called on, and an actor that lives on that loop.
  package static func makeEntrance<Resident: Actor>(
    _ body: @escaping (isolated Resident) -> Void
  ) -> (EventLoop, Resident) -> Void {
    // The thread and the executor are the actor's, as is checked below; isolation is no part of how a function is called.
    let unisolated = unsafe unsafeBitCast(body, to: ((Resident) -> Void).self)
    return { loop, actor in
      loop.requireLoop()
      // An executor reference is two words, of which the first one names the object; both executors live during the call.
      let home = unsafe unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
      // As above.
      let here = unsafe unsafeBitCast(loop.asUnownedSerialExecutor(), to: (UInt, UInt).self).0
      precondition(home == here, "the actor does not live on this loop")
      unisolated(actor)
    }
  }
}
