import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Requests that spend something: from when they are sent nothing but an answer, a lost connection or the end of their
/// time ends them; until then they have all of it.
@Suite(.standardTimeLimit) struct FlightTests {
  private static let answering: [ScriptedServer.Step] = [.read, .hold, .send(ScriptedServer.reply(200, "{}"))]

  private static func send(
    _ method: HTTPRequest.Method, _ url: HTTPURL, _ transport: PublicTransport,
    deadline: HTTPRequest.Deadline = .interactive
  ) -> Task<HTTPFailure?, Never> {
    let request = HTTPRequest(method, url, deadline: deadline)
    return Task { await failure { () async throws(HTTPFailure) in try await transport.send(request) } }
  }

  @Test func `One that waits for its turn has all its time when it is sent`() async throws {
    var outcomes: [HTTPFailure?] = []
    for timeout in Patience.timeouts(from: .milliseconds(200)) {
      let server = ScriptedServer(.plain, Self.answering)
      let silent = ScriptedServer(.plain, [.read, .wait])
      var limits = HTTPLimits()
      limits.flights = 1
      let transport = PublicTransport(try client(interactive: timeout, limits: limits))
      let url = try server.url()
      let first = Self.send(.post, url, transport, deadline: .refresh)
      while server.requests.isEmpty { await Task.yield() }
      let waiting = (0..<3).map { _ in Self.send(.post, url, transport) }
      // Its time is over when that of another is that was begun after it.
      #expect(await Self.send(.get, try silent.url(), transport).value == .timedOut(sent: true))
      #expect(server.requests.count == 1)
      server.release()
      #expect(await first.value == nil)
      outcomes = []
      for task in waiting { outcomes.append(await task.value) }
      if outcomes == [nil, nil, nil] { break }
    }
    #expect(outcomes == [nil, nil, nil])
  }

  @Test func `As many are sent at a time as there are turns, and one server leaves some to the others`() async throws {
    let (slow, quick) = (ScriptedServer(.plain, Self.answering), ScriptedServer.answering())
    var limits = HTTPLimits()
    limits.flights = 40
    let transport = PublicTransport(try client(limits: limits))
    let url = try slow.url()
    let flights = (0..<60).map { _ in Self.send(.post, url, transport) }
    while slow.requests.count < 30 { await Task.yield() }
    #expect(await Self.send(.post, try quick.url(), transport).value == nil)
    #expect(slow.requests.count == 30)
    slow.release()
    for flight in flights { #expect(await flight.value == nil) }
    #expect(slow.requests.count == 60)
  }

  @Test func `A caller that gives up does not end one that is sent, and gets its answer`() async throws {
    let server = ScriptedServer(.plain, Self.answering)
    let transport = PublicTransport(try client())
    let flight = Self.send(.post, try server.url(), transport)
    while server.requests.isEmpty { await Task.yield() }
    flight.cancel()
    // What is cancelled is looked at before this is begun.
    #expect(await Self.send(.post, try ScriptedServer.answering().url(), transport).value == nil)
    #expect(!server.ledger.contains("end 0"))
    server.release()
    #expect(await flight.value == nil)
  }

  @Test func `A caller that gives up before its turn gets nothing sent`() async throws {
    let server = ScriptedServer(.plain, Self.answering)
    var limits = HTTPLimits()
    limits.flights = 1
    let transport = PublicTransport(try client(limits: limits))
    let first = Self.send(.post, try server.url(), transport)
    while server.requests.isEmpty { await Task.yield() }
    let second = Self.send(.post, try server.url(), transport)
    second.cancel()
    #expect(await second.value == .cancelled(sent: false))
    server.release()
    #expect(await first.value == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `A client that stops spending lets go on what is sent, and sends nothing else`() async throws {
    let server = ScriptedServer(.plain, Self.answering)
    var limits = HTTPLimits()
    limits.flights = 1
    let client = try client(limits: limits)
    let transport = PublicTransport(client)
    let url = try server.url()
    let first = Self.send(.post, url, transport)
    while server.requests.isEmpty { await Task.yield() }
    let second = Self.send(.post, url, transport)
    // It is behind the second in the client's mail, and is answered.
    _ = try await transport.send(HTTPRequest(.get, try ScriptedServer.answering().url()))
    client.stopSpending()
    #expect(await second.value == .closed)
    #expect(await Self.send(.post, url, transport).value == .closed)
    _ = try await transport.send(HTTPRequest(.get, try ScriptedServer.answering().url()))
    server.release()
    #expect(await first.value == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `One whose connection is still being made is not sent once the client stops spending`() async throws {
    let server = ScriptedServer(.plain, [.wait])
    let client = try client()
    let flight = Self.send(.post, try HTTPURL("https://localhost:\(server.port)/"), PublicTransport(client))
    while server.connections == 0 { await Task.yield() }
    client.stopSpending()
    #expect(await flight.value == .closed)
  }

  @Test func `A request with a pause waits for it without a turn, and can be cancelled meanwhile`() async throws {
    let server = ScriptedServer.answering()
    var limits = HTTPLimits()
    limits.requestsPerServer = 1
    let transport = PublicTransport(try client(limits: limits))
    var request = HTTPRequest(.get, try server.url())
    request.pause = Patience.ceiling
    let paused = request
    let task = Task { await failure { () async throws(HTTPFailure) in try await transport.send(paused) } }
    // Behind it in the client's mail, and at the same server.
    #expect(try await transport.send(HTTPRequest(.get, try server.url())).status == 200)
    task.cancel()
    #expect(await task.value == .cancelled(sent: false))
    request.pause = .milliseconds(20)
    let begin = BootClock.now
    #expect(try await transport.send(request).status == 200)
    #expect(BootClock.now - begin >= .milliseconds(20))
    #expect(server.requests.count == 2)
  }

  /// A clock on which the transfers' thread can be made to stand still.
  private final class Standstill: Sendable {
    private struct State {
      var jump = Duration.zero
      var isArmed = false
      var isHeld = false
    }
    private let state = Mutex(State())

    /// Whether the thread stands still.
    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// The time; it does not return while the thread is to stand still.
    var now: Duration {
      state.withLock { if $0.isArmed { $0.isHeld = true } }
      _ = Patience.wait { state.withLock { !$0.isArmed } }
      return state.withLock { BootClock.now + $0.jump }
    }

    func begin() { state.withLock { $0.isArmed = true } }

    func end(after time: Duration) {
      state.withLock {
        $0.jump += time
        $0.isArmed = false
        $0.isHeld = false
      }
    }
  }

  @Test func `What has come while the process stood still is read, and what has not come has its rest of time`()
    async throws
  {
    let standstill = Standstill()
    var settings = settings()
    settings.time = { standstill.now }
    let transport = PublicTransport(try HTTPClient(settings))
    for method in [HTTPRequest.Method.post, .get] {
      let (answered, late) = (ScriptedServer(.plain, Self.answering), ScriptedServer(.plain, Self.answering))
      let first = Self.send(method, try answered.url(), transport)
      let second = Self.send(method, try late.url(), transport)
      while answered.requests.isEmpty || late.requests.isEmpty { await Task.yield() }
      standstill.begin()
      while !standstill.isHeld { await Task.yield() }
      answered.release()
      // Both are at rest: the response has left the server.
      #expect(!answered.ledger.isEmpty)
      standstill.end(after: Patience.ceiling * 10)
      #expect(await first.value == nil)
      late.release()
      #expect(await second.value == nil)
    }
  }
}
