package import BrokerProtocol
import LinuxSystem
package import Logging
import Synchronization

/// The hooks of the configuration, and the events on their way to them.
///
/// A hook belongs to the owner's configuration: it gets events whole, as an administrative connection does, on the standard
/// input of its program. Its program runs as those for secrets do, and gets no variable besides.
package final class EventHooks: Sendable {
  private let environment: [String: String]
  private let log: Logger
  private let grace: Duration
  private let ended = Semaphore()
  private let lines = Mutex<[HookLine]>([])

  /// No hooks yet; programs get of `environment` what ``UserProgram`` passes on.
  ///
  /// `grace` is the time of a program that is asked to end: enough to remove a temporary file.
  package init(environment: [String: String], log: Logger, grace: Duration = .seconds(2)) {
    self.environment = environment
    self.log = log
    self.grace = grace
  }

  /// Takes over the hooks of a configuration: those that stay go on, and those that are gone get no event any more; a
  /// program that runs for one ends by itself, or with its time.
  package func update(_ hooks: [Hook]) {
    let gone = lines.withLock { lines in
      var old = lines
      lines = hooks.map { hook in
        guard let place = old.firstIndex(where: { $0.hook == hook }) else {
          return HookLine(hook, environment: environment, log: log, grace: grace, ended: ended)
        }
        return old.remove(at: place)
      }
      return old
    }
    for line in gone { line.close(keepingQueue: false) }
  }

  /// Takes an event to the hooks that are for such; nothing here waits.
  package func take(_ event: BrokerEvent) {
    for line in lines.withLock({ $0 }) { line.take(event) }
  }

  /// Takes no event any more, and gives programs some time for those that wait; it blocks no thread of the caller's.
  ///
  /// - Parameters:
  ///   - limit: the time of a hook.
  ///   - endLimit: the time of one that is told of the end itself, whose program only begins.
  package func close(within limit: Duration, toldOfEnd endLimit: Duration) async {
    guard lines.withLock({ $0 }).contains(where: \.isRunning) else { return }
    await withCheckedContinuation { continuation in
      do throws(Errno) {
        try SystemThread { [self] in
          finish(within: limit, toldOfEnd: endLimit)
          continuation.resume()
        }.detach()
      } catch { continuation.resume() }
    }
  }

  /// The same on the calling thread.
  func finish(within limit: Duration, toldOfEnd endLimit: Duration) {
    let lines = lines.withLock { $0 }
    for line in lines { line.close(keepingQueue: true) }
    let start = BootClock.now
    func remaining() -> Duration? {
      let limits = lines.filter(\.isRunning).map { $0.hook.events.contains(.shuttingDown) ? endLimit : limit }
      return limits.max().map { start + $0 - BootClock.now }
    }
    while let remaining = remaining(), remaining > .zero { ended.wait(atMost: remaining) }
  }

  /// How many events were dropped, as far as that is not logged yet; for tests.
  var dropped: Int { lines.withLock { $0 }.reduce(0) { $0 + $1.dropped } }
}
