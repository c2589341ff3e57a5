package import LinuxSystem

/// The readiness of a descriptor.
package typealias ReadyEvents = Epoll.Events

/// An object that is called when a descriptor is ready.
///
/// It is called on the loop's thread, one call at a time.
package protocol EventHandler: AnyObject {
  /// Moves what can be moved without waiting. The loop is level-triggered: what is left over is announced again.
  func ready(_ events: ReadyEvents)
}

/// An object that is called in every turn behind the handlers, to move together what those have noted.
package protocol TurnObserver: AnyObject {
  /// All handlers that were ready in this turn have been called.
  func handlersWereCalled()
}
