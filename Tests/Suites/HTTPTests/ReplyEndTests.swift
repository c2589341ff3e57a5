import TestSupport
import Testing

@testable import HTTP

/// Answers that come only once: how long they are read, and what counts of one whose end does not come.
@Suite(.standardTimeLimit) struct ReplyEndTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
  private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
  private static let body = #"{"access_token":"at"}"#

  /// A request that spends something, whose answer is whole with the last brace.
  private static func request(_ url: HTTPURL) throws -> HTTPRequest {
    var request = HTTPRequest(.post, url, body: .json(try secret("{}")))
    request.isWhole = { $0.text.hasSuffix("}") }
    return request
  }

  private static func outcome(
    _ method: HTTPRequest.Method, _ server: ScriptedServer, _ transport: PublicTransport
  ) throws -> Task<HTTPFailure?, Never> {
    let request = HTTPRequest(method, try server.url())
    return Task { await failure { () async throws(HTTPFailure) in try await transport.send(request) } }
  }

  @Test func `An answer that comes only once is read on while bytes come, and one that only reads has its time`()
    async throws
  {
    var outcomes: [HTTPFailure?] = []
    for timeout in Patience.timeouts(from: .milliseconds(300)) {
      let script: [ScriptedServer.Step] = [
        .read, .send(Self.head + "Content-Length: 2\r\n\r\n{"), .hold, .send("}"),
      ]
      let (spending, reading) = (ScriptedServer(.plain, script), ScriptedServer(.plain, script))
      let transport = PublicTransport(try client(interactive: timeout, longest: Patience.ceiling))
      let flight = try Self.outcome(.post, spending, transport)
      while spending.requests.isEmpty { await Task.yield() }
      // It is sent later, and its time is over.
      let other = await (try Self.outcome(.get, reading, transport)).value
      spending.release()
      outcomes = [await flight.value, other]
      if outcomes == [nil, .timedOut(sent: true)] { break }
    }
    #expect(outcomes == [nil, .timedOut(sent: true)])
  }

  @Test(arguments: [(Duration.zero, Patience.ceiling), (Patience.ceiling, .zero)])
  func `It ends once no byte has come for long, and in any case some time`(
    _ stillness: Duration, _ longest: Duration
  ) async throws {
    let rest: ScriptedServer.Step = stillness == .zero ? .wait : .drip("a")
    var outcome: HTTPFailure?
    for timeout in Patience.timeouts(from: .milliseconds(300)) {
      let server = ScriptedServer(.plain, [.read, .send(Self.head + "Content-Length: 90000\r\n\r\n{"), rest])
      let client = try client(interactive: timeout, stillness: stillness, longest: longest)
      outcome = await (try Self.outcome(.post, server, PublicTransport(client))).value
      if outcome == .timedOut(sent: true) { break }
    }
    #expect(outcome == .timedOut(sent: true))
  }

  /// What follows a whole body.
  private static let endings: [(String, [ScriptedServer.Step])] = [
    (head + "Content-Length: \(body.utf8.count + 1)\r\n\r\n" + body, [.close]),
    (head + "Content-Length: \(body.utf8.count + 1)\r\n\r\n" + body, [.wait]),
    (head + "Content-Length: \(body.utf8.count + 1)\r\n\r\n" + body, [.hold, .reset]),
    (chunked + "15\r\n" + body + "\r\n", [.close]),
    (chunked + "15\r\n" + body + "\r\n", [.wait]),
    (chunked + "15\r\n" + body + "\r\nzz\r\n", [.wait]),
    (chunked + "16\r\n" + body, [.close]),
  ]

  @Test(arguments: [ScriptedServer.Face.plain, .good], endings.indices)
  func `A whole answer behind faulty framing is taken where it comes only once`(
    _ face: ScriptedServer.Face, _ index: Int
  ) async throws {
    let (reply, end) = Self.endings[index]
    var text = ""
    for timeout in Patience.timeouts(from: .milliseconds(500)) {
      let server = ScriptedServer(face, [.read, .send(reply)] + end)
      let transport = PublicTransport(try client(interactive: timeout), policy: try testPolicy())
      let request = try Self.request(try server.url())
      async let answer = try? transport.send(request).text
      // The reply has left a server that is at rest.
      if case .hold? = end.first {
        while server.requests.isEmpty { await Task.yield() }
        server.release()
      }
      text = await answer ?? ""
      if text == Self.body { break }
    }
    #expect(text == Self.body)
  }

  @Test(arguments: [ScriptedServer.Step.close, .reset])
  func `Half an answer is none, and neither is a whole one without anybody who knows it`(
    _ end: ScriptedServer.Step
  ) async throws {
    let long = Self.head + "Content-Length: 99\r\n\r\n"
    let half = ScriptedServer(.plain, [.read, .send(long + String(Self.body.dropLast())), end])
    let transport = PublicTransport(try client())
    var request = try Self.request(try half.url())
    #expect(await Self.loss(request, transport) == .connectionLost(sent: true))
    let whole = ScriptedServer(.plain, [.read, .send(long + Self.body), end])
    request.url = try whole.url()
    request.isWhole = nil
    #expect(await Self.loss(request, transport) == .connectionLost(sent: true))
    request = HTTPRequest(.get, try whole.url())
    request.isWhole = { _ in true }
    #expect(await Self.loss(request, transport) == .connectionLost(sent: true))
    request = try Self.request(try ScriptedServer(.plain, [.read, .send("HTTP/1.1 100 Continue\r\n\r\n"), end]).url())
    request.isWhole = { _ in true }
    #expect(await Self.loss(request, transport) == .connectionLost(sent: true))
  }

  private static func loss(_ request: HTTPRequest, _ transport: PublicTransport) async -> HTTPFailure? {
    await failure { () async throws(HTTPFailure) in try await transport.send(request) }
  }
}
