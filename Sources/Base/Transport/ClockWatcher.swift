package import LinuxSystem

/// Tells a loop's thread when the wall clock was set, without looking at it again and again.
package final class ClockWatcher: EventHandler {
  private let loop: EventLoop
  private let watch: ClockWatch
  private let wasSet: () -> Void
  private var registration: Registration?

  /// Watches from now on; the loop keeps the watcher until ``stop()``.
  ///
  /// - Parameters:
  ///   - loop: where `wasSet` is called.
  ///   - watch: the alarm.
  ///   - wasSet: called whenever the clock was set.
  /// - Throws: `ENOSPC` and the like.
  package init(loop: EventLoop, watch: consuming ClockWatch, wasSet: @escaping () -> Void) throws(Errno) {
    self.loop = loop
    self.watch = watch
    self.wasSet = wasSet
    registration = try loop.register(self.watch.descriptor, .readable, self)
  }

  /// Stops watching.
  package func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
  }

  /// Looks, and tells.
  package func ready(_ events: ReadyEvents) {
    switch watch.look() {
    case .wasSet: wasSet()
    case .quiet: break
    // The loop is level-triggered: what cannot be read would be announced in every turn.
    case .failed: stop()
    }
  }
}
