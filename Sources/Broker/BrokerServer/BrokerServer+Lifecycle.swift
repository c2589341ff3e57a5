package import BrokerCore
package import BrokerProtocol
import LinuxSystem
import Logging
import Transport

/// When a server that was started on demand ends by itself.
struct Linger {
  /// How long after the last use.
  let patience: Duration
  /// The end that is coming; nil while the server is in use.
  var timer: TimerID?
}

/// How the server ends.
extension BrokerServer {
  /// Ends the server this long after its last use: no connection, nothing under way.
  package func endWhenIdle(for patience: Duration) {
    cancelLinger()
    linger = Linger(patience: patience)
    connectionEnded()
  }

  /// The server is in use.
  func cancelLinger() {
    if let timer = linger?.timer { loop.cancel(timer) }
    linger?.timer = nil
  }

  /// A connection has ended: perhaps the last one.
  func connectionEnded() {
    guard !isDraining else { return finishIfDone() }
    guard connections.isEmpty, let linger, linger.timer == nil else { return }
    self.linger?.timer = loop.schedule(after: linger.patience) { [weak self] in
      self?.assumeIsolated { $0.lingerIsOver() }
    }
  }

  private func lingerIsOver() {
    linger?.timer = nil
    guard connections.isEmpty else { return }
    if broker.assumeIsolated({ $0.isBusy }) {
      connectionEnded()
    } else {
      log.notice("no client has used the broker for a while")
      drain()
    }
  }

  /// Takes no new request, lets those in flight end, then closes.
  ///
  /// The server has ended when no client waits for an answer and the broker has nothing under way: tokens that a provider
  /// has just rotated are saved first. Answers that come only once are awaited for as long as a provider may take. A client
  /// that connects meanwhile is told that the broker ends.
  package func drain() {
    guard !isDraining else { return }
    isDraining = true
    environment.stopping()
    cancelLinger()
    // Those who connect to the manager's socket wait there for the next broker.
    if listener?.ownsPath == false { listener?.stop() }
    broker.assumeIsolated { broker in
      broker.announceShutdown()
      broker.refuseLoginWaiters()
      broker.stopTrials()
    }
    for connection in Array(connections.values) { flush(connection) }
    let time = DrainTime(from: BootClock.now)
    if awaitedOnce > 0 { tellWaiting(time) }
    lookAgain(time)
    finishIfDone()
  }

  /// Says again for what a server that ends waits: it was told to once more.
  package func drainGoesOn() {
    if let drainTime { tellWaiting(drainTime) }
  }

  private func tellWaiting(_ time: DrainTime) {
    let awaited = awaitedOnce
    let rest = time.rest(at: BootClock.now, isAwaiting: awaited > 0).components
    log.notice(
      "stopping, and waiting for answers that come only once; `authbroker stop --now` does not wait",
      .number("count", awaited), .number("seconds", Int(rest.seconds) + (rest.attoseconds > 0 ? 1 : 0)))
  }

  /// How many answers of providers are awaited that come only once.
  var awaitedOnce: Int { broker.assumeIsolated { $0.awaitedOnce } }

  /// Looks from time to time whether there is anything left to wait for.
  private func lookAgain(_ time: DrainTime) {
    drainTime = time
    drainTimer = loop.schedule(after: DrainTime.interval) { [weak self] in
      self?.assumeIsolated { server in
        var time = time
        let goesOn = time.goesOn(at: BootClock.now, isAwaiting: server.awaitedOnce > 0)
        if goesOn { server.lookAgain(time) } else { server.endNow() }
      }
    }
  }

  /// No answer is waited for any longer: the waiting callers are told so.
  func endNow() {
    for connection in Array(connections.values) {
      for key in connection.inFlight { fail(key, BrokerError(.shuttingDown)) }
      close(connection)
    }
    finishDraining()
  }

  /// A connection that waits for nothing does not keep the server.
  private func finishIfDone() {
    guard isDraining, !hasStopped, !broker.assumeIsolated({ $0.hasWork }),
      connections.values.allSatisfy({ $0.waitsForNothing })
    else { return }
    endNow()
  }

  private func finishDraining() {
    guard !hasStopped else { return }
    hasStopped = true
    if let drainTimer { loop.cancel(drainTimer) }
    listener?.stop()
    listener?.removePath()
    environment.stopped()
  }

  /// How many bytes wait for clients that do not take them.
  package var queuedBytes: Int { connections.values.reduce(0) { $0 + $1.output.count } }

  /// Notes that the configuration in use is what its file says at present.
  package func noteConfigurationRead(at time: Timestamp) { configurationReadAt = time }

  /// Applies other bounds; connections that are open keep the length of message that they began with.
  package func setLimits(_ limits: Limits) {
    self.limits = limits
    ledger.limits = limits
    scratch = [UInt8](repeating: 0, count: limits[.turnBytes])
    listener?.setLimit(limits[.connections])
  }

  /// Takes in what the broker tells those around it; its troubles are an administrator's.
  package nonisolated func take(_ notice: BrokerNotice) {
    assumeIsolated { server in
      switch notice {
      case .answer(let answer, let caller): server.answer(caller, answer)
      case .subscribed(let subscription): server.begin(subscription)
      case .missed(let page): server.take(page)
      case .delivery(let delivery): server.deliver(delivery)
      case .told(let event): server.log.write(event)
      case .locked: server.dropUnreadTokens()
      case .idle: server.finishIfDone()
      case .trouble: break
      }
    }
  }
}
