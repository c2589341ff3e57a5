package import LinuxSystem

/// What a descriptor is ready for.
package typealias ReadyEvents = Epoll.Events

/// What is called when a descriptor is ready.
///
/// It is called on the loop's thread, one call at a time.
package protocol EventHandler: AnyObject {
  /// Moves what can be moved without waiting. The loop is level-triggered: what is left over is announced again.
  func ready(_ events: ReadyEvents)
}

/// What is called in every turn behind the handlers: it moves together what those have noted.
package protocol TurnObserver: AnyObject {
  /// All handlers that were ready in this turn have been called.
  func handlersWereCalled()
}
