package import LinuxSystem

/// Tells a loop's thread that the network may have changed, once it has come to rest, without asking anybody.
package final class NetworkWatcher: EventHandler {
  /// How long nothing must have changed: a link that comes up brings an address and routes within this time, and an
  /// attempt before the last of them would fail.
  package static let rest = Duration.milliseconds(700)
  /// The time after which a network that never comes to rest is reported.
  package static let patience = Duration.seconds(5)

  private let loop: EventLoop
  private let socket: RouteSocket
  private let mayHaveChanged: () -> Void
  private var registration: Registration?
  private var timer: TimerID?
  private var firstChange: Duration?

  /// Listens from now on; the loop keeps the watcher until ``stop()``.
  ///
  /// - Parameters:
  ///   - loop: where `mayHaveChanged` is called.
  ///   - socket: what the kernel tells.
  ///   - mayHaveChanged: called once for all changes that belong together.
  /// - Throws: `ENOSPC` and the like.
  package init(
    loop: EventLoop, socket: consuming RouteSocket, mayHaveChanged: @escaping () -> Void
  ) throws(Errno) {
    self.loop = loop
    self.socket = socket
    self.mayHaveChanged = mayHaveChanged
    registration = try loop.register(self.socket.descriptor, .readable, self)
  }

  /// Stops listening.
  package func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
    if let timer { loop.cancel(timer) }
    timer = nil
  }

  /// Reads what there is, and waits for the rest.
  package func ready(_ events: ReadyEvents) {
    do throws(Errno) {
      guard try socket.hasChanged() else { return }
    } catch {
      // The loop is level-triggered: what cannot be read would be announced in every turn.
      return stop()
    }
    let now = BootClock.now
    let first = firstChange ?? now
    firstChange = first
    if let timer { loop.cancel(timer) }
    timer = loop.schedule(at: min(now + Self.rest, first + Self.patience)) { [weak self] in self?.tell() }
  }

  private func tell() {
    timer = nil
    firstChange = nil
    mayHaveChanged()
  }
}
