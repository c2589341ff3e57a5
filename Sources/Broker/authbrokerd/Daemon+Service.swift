import BrokerCore
import BrokerProtocol
import Configuration
import LinuxSystem
import Transport

/// Reports to the service manager.
extension Daemon {
  /// The status line, in a few words.
  var status: String {
    let count = configuration.profiles.count
    return "\(count) profile\(count == 1 ? "" : "s"), socket \(socket.isEmpty ? "none" : socket)"
  }

  /// The same, after a reload; one that was rejected says why until the next one succeeds.
  func status(after reload: Result<[ProfileName], BrokerError>) -> String {
    guard case .failure(let error) = reload else { return status }
    return "the configuration was not reloaded, the current one is kept: \(error.message)"
  }

  /// Reports that the broker drains: from here on a reload is not reported any more, and no token is spent that is not
  /// spent already.
  func noteStop() {
    isStopping = true
    providers.stopSpending()
    serviceReport.stopping()
  }

  /// Reports at half of the manager's time limit that the loop turns, for as long as it does.
  ///
  /// The timer is one of the loop's own: a loop that is stuck reports nothing. Without a watchdog there is no timer,
  /// and an idle broker sleeps.
  func feedWatchdog() {
    guard let interval = serviceReport.watchdogInterval else { return }
    serviceReport.isAlive()
    // The loop keeps the timer, and this actor, for as long as the process lives.
    _ = loop.schedule(after: interval) { self.assumeIsolated { $0.feedWatchdog() } }
  }
}
