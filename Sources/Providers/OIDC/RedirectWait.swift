import BrokerCore
import BrokerProtocol
import LinuxSystem
import Synchronization

/// Waits for a browser on a thread of its own, and answers it.
actor RedirectWait {
  /// Rings when the wait is cancelled, and when the user has brought what it waits for.
  private final class Bell: Sendable {
    let counter: EventCounter

    init() throws(Errno) { counter = try EventCounter() }
  }

  /// Browsers open a few connections ahead; of more, the oldest is given up.
  private static let mostConnections = 8
  /// Descriptors come back when others are closed, which is not signalled.
  private static let rest = Duration.milliseconds(100)

  private nonisolated let worker = WorkerThread(name: "browser")
  private nonisolated let bell: Bell
  private nonisolated let socket: RedirectSocket
  private nonisolated let judge: RedirectJudge
  /// The verdict that the user has brought in place of the browser.
  private nonisolated let brought = Mutex<RedirectJudge.Verdict?>(nil)
  private var connections: [RedirectConnection] = []
  /// The connection that has brought the answer, and waits for its page.
  private var answering: RedirectConnection?
  /// The time before which no connection is accepted: there was no descriptor left for another one.
  private var restsUntil = Duration.zero

  /// The executor that the actor runs on.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// A wait that has not begun.
  ///
  /// Its thread runs from here on, until ``end()``.
  ///
  /// - Throws: what eventfd(2) and pthread_create(3) say.
  init(_ socket: RedirectSocket, _ judge: RedirectJudge) throws(Errno) {
    self.socket = socket
    self.judge = judge
    bell = try Bell()
    try worker.start()
  }

  /// The state, which names the login.
  nonisolated var state: String { judge.flow.state }

  /// The port on which the browser is awaited.
  nonisolated var port: Int { socket.port }

  /// Calls the wait off; may be called from anywhere, at any time.
  nonisolated func cancel() { bell.counter.raise() }

  /// Ends the wait with what the user has brought, unless the browser has come before; may be called from anywhere.
  nonisolated func bring(_ verdict: RedirectJudge.Verdict) {
    brought.withLock { $0 = $0 ?? verdict }
    bell.counter.raise()
  }

  /// Stops listening and calls the wait off; may be called from anywhere, at any time.
  ///
  /// When it returns, the port is free.
  nonisolated func giveUp() {
    socket.stop()
    cancel()
  }

  /// Ends the thread; not to be called on it.
  nonisolated func end() { worker.stop() }

  /// Waits until a browser, or the user, brings an answer that ends the wait, or the time is over.
  ///
  /// - Parameter deadline: on the clock of the machine's start.
  /// - Returns: what it brought; nil where the wait was cancelled.
  func answer(until deadline: Duration) -> RedirectJudge.Verdict? {
    while true {
      let now = BootClock.now
      guard now < deadline else { return .ended(.refused(.otpExpired)) }
      connections.removeAll { $0.deadline <= now }
      let isResting = restsUntil > now
      let next = (connections.map(\.deadline) + [deadline] + (isResting ? [restsUntil] : [])).min() ?? deadline
      let listening = socket.numbers.count
      var set = PollSet(count: 1 + listening + connections.count)
      set.watch(0, bell.counter.descriptor.number, readable: true)
      for (index, number) in socket.numbers.enumerated() { set.watch(1 + index, number, readable: !isResting) }
      for (index, connection) in connections.enumerated() {
        set.watch(1 + listening + index, connection.descriptor.number, readable: true)
      }
      // A signal is no reason to stop; the loop looks at the clock again.
      _ = try? set.wait(atMost: next - now)
      if set.isReady(0) { return brought.withLock(\.self) }
      let ready = connections.indices.filter { set.isReady(1 + listening + $0) }.map { connections[$0] }
      for connection in ready {
        if let verdict = serve(connection) { return verdict }
      }
      if (1...listening).contains(where: { set.isReady($0) }) { accept() }
    }
  }

  /// Reads from one connection; a request that does not end the wait is answered here.
  private func serve(_ connection: RedirectConnection) -> RedirectJudge.Verdict? {
    switch connection.read() {
    case .nothing: break
    case .over: connections.removeAll { $0 === connection }
    case .malformed(let status): connection.answer(.malformed(status: status), at: BootClock.now)
    case .request:
      let verdict = judge.judge(connection.request)
      guard case .keepWaiting(let page) = verdict else {
        answering = connection
        return verdict
      }
      connection.answer(page, at: BootClock.now)
    }
    return nil
  }

  private func accept() {
    do throws(Errno) {
      while let descriptor = try socket.accept() {
        if connections.count >= Self.mostConnections { connections.removeFirst() }
        connections.append(RedirectConnection(descriptor, at: BootClock.now))
      }
    } catch .connectionAborted {
      // The browser has gone already.
    } catch {
      restsUntil = BootClock.now + Self.rest
    }
  }

  /// Stops listening, shows the browser the result, and closes everything.
  ///
  /// It waits a moment for the browser to take the page: closing earlier could discard it.
  func finish(_ page: RedirectPage) {
    socket.stop()
    connections = []
    guard let connection = answering else { return }
    answering = nil
    connection.answer(page, at: BootClock.now)
    while true {
      let rest = connection.deadline - BootClock.now
      guard rest > .zero else { return }
      var set = PollSet(count: 1)
      set.watch(0, connection.descriptor.number, readable: true)
      guard (try? set.wait(atMost: rest)) ?? 1 > 0 else { return }
      if case .over = connection.read() { return }
    }
  }
}
