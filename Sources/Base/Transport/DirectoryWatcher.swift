package import LinuxSystem

/// Tells a loop's thread when something may have gone from a directory.
package final class DirectoryWatcher: EventHandler {
  private let loop: EventLoop
  private let watch: DirectoryWatch
  private let hasChanged: () -> Void
  private var registration: Registration?

  /// Watches from now on; the loop keeps the watcher until ``stop()``.
  ///
  /// - Parameters:
  ///   - loop: where `hasChanged` is called.
  ///   - watch: of the directory.
  ///   - hasChanged: called whenever something may have gone.
  /// - Throws: `ENOSPC` and the like.
  package init(loop: EventLoop, watch: consuming DirectoryWatch, hasChanged: @escaping () -> Void) throws(Errno) {
    self.loop = loop
    self.watch = watch
    self.hasChanged = hasChanged
    registration = try loop.register(self.watch.descriptor, .readable, self)
  }

  /// Stops watching.
  package func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
  }

  /// Reads the pending notifications, and passes them on.
  package func ready(_ events: ReadyEvents) {
    if !watch.drain() { stop() }
    hasChanged()
  }
}
