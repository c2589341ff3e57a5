import BrokerCore
import LinuxSystem
import Logging
import Transport

/// The end of the server: draining, and the idle timeout.
struct Ending {
  /// Whether the server takes nothing new any more.
  var isDraining = false
  /// Whether the program was notified of the end.
  var hasStopped = false
  /// How long after its last use a server that was started on demand ends; nil for one that stays.
  var patience: Duration?
  /// Ends it; nil while it is in use.
  var idleTimer: TimerID?
  /// Checks whether the awaited answers have come.
  var drainTimer: TimerID?
  /// How long it is waited; nil before the server drains.
  var time: DrainTime?
}

/// How long a server that ends waits: a short time for requests in flight and for saving, and for answers that come
/// only once as long as a provider may take.
///
/// Time in which this process did not run, as it was stopped or the machine slept, is not counted: what came meanwhile
/// has not been read.
struct DrainTime {
  /// How long requests in flight may take, and the saving after the last answer that comes only once.
  static let patience = Duration.seconds(5)
  /// How long answers that come only once are awaited: longer than a refresh that is sent usually takes.
  static let longest = Duration.seconds(25)
  /// How often it is looked whether there are any left.
  static let interval = Duration.milliseconds(250)
  /// A look that comes so much later shows that the process did not run.
  private static let longestDelay = Duration.seconds(1)

  private var deadline: Duration
  private var end: Duration
  private var next: Duration

  /// The waiting that begins at a moment.
  init(from now: Duration) {
    (deadline, end, next) = (now + Self.patience, now + Self.longest, now + Self.interval)
  }

  /// Takes a look, which was to come after ``interval``.
  ///
  /// - Parameters:
  ///   - now: the present moment.
  ///   - isAwaiting: whether answers that come only once are awaited.
  /// - Returns: whether the server waits on.
  mutating func goesOn(at now: Duration, isAwaiting: Bool) -> Bool {
    let delay = now - next
    if delay > Self.longestDelay {
      deadline += delay
      end += delay
    }
    next = now + Self.interval
    guard isAwaiting else { return now < deadline }
    deadline = now + Self.patience
    return now < end
  }

  /// How long the server waits at most.
  func rest(at now: Duration, isAwaiting: Bool) -> Duration { max((isAwaiting ? end : deadline) - now, .zero) }
}

/// Ending the server.
extension BrokerServer {
  /// Ends the server this long after its last use: no connection, nothing under way.
  package func endWhenIdle(for patience: Duration) {
    cancel(&end.idleTimer)
    end.patience = patience
    connectionEnded()
  }

  /// A connection has ended: perhaps the last one.
  func connectionEnded() {
    guard !end.isDraining else { return finishIfDone() }
    guard connections.all.isEmpty, let patience = end.patience, end.idleTimer == nil else { return }
    end.idleTimer = schedule(after: patience) { $0.lingerIsOver() }
  }

  private func lingerIsOver() {
    end.idleTimer = nil
    guard connections.all.isEmpty else { return }
    if isBusy { return connectionEnded() }
    log.notice("no client has used the broker for a while")
    drain()
  }

  /// Takes no new request, lets those in flight end, then closes.
  ///
  /// The server has ended when no client waits for an answer and the broker has nothing under way: tokens that a provider
  /// has just rotated are saved first. Answers that come only once are awaited for as long as a provider may take. A client
  /// that connects meanwhile is told that the broker ends.
  package func drain() {
    guard !end.isDraining else { return }
    end.isDraining = true
    environment.stopping()
    cancel(&end.idleTimer)
    // Those who connect to the manager's socket wait there for the next broker.
    for listener in listeners.values where !listener.ownsPath { listener.stop() }
    beginEnd()
    for connection in Array(connections.all) { flush(connection) }
    end.time = DrainTime(from: BootClock.now)
    if awaitedOnce > 0 { drainGoesOn() }
    lookAgain()
    finishIfDone()
  }

  /// Says for what a server that ends waits; again where it is told to end once more.
  package func drainGoesOn() {
    guard let time = end.time else { return }
    let awaited = awaitedOnce
    let rest = time.rest(at: BootClock.now, isAwaiting: awaited > 0).components
    log.notice(
      "stopping, and waiting for answers that come only once; `authbroker stop --now` does not wait",
      .number("count", awaited), .number("seconds", Int(rest.seconds) + (rest.attoseconds > 0 ? 1 : 0)))
  }

  /// Looks from time to time whether there is anything left to wait for.
  private func lookAgain() {
    end.drainTimer = schedule(after: DrainTime.interval) { server in
      let isAwaiting = server.awaitedOnce > 0
      let goesOn = server.end.time?.goesOn(at: BootClock.now, isAwaiting: isAwaiting) ?? false
      if goesOn { server.lookAgain() } else { server.endNow() }
    }
  }

  /// Ends all waits for answers: the waiting callers get an error.
  func endNow() {
    for connection in Array(connections.all) {
      connection.endAnswers(self)
      close(connection)
    }
    guard !end.hasStopped else { return }
    end.hasStopped = true
    cancel(&end.drainTimer)
    for listener in listeners.values {
      listener.stop()
      listener.removePath()
    }
    environment.stopped()
  }

  /// A connection that waits for nothing does not keep the server.
  func finishIfDone() {
    guard end.isDraining, !end.hasStopped, !hasWork, connections.all.allSatisfy({ $0.waitsForNothing }) else {
      return
    }
    endNow()
  }
}
