import SecretMemory
import TestSupport
import Testing

@testable import HTTP

/// A way for a server to go wrong, and what the caller must learn from it.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  let name: String
  let script: [ScriptedServer.Step]
  let failure: HTTPFailure
  var face = ScriptedServer.Face.plain
  var testDescription: String { name }

  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
  private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

  static let afterTheRequest = [
    Misbehaviour(name: "closed without a word", script: [.read, .close], failure: .connectionLost(sent: true)),
    Misbehaviour(name: "reset without a word", script: [.read, .reset], failure: .connectionLost(sent: true)),
    Misbehaviour(name: "closed, TLS", script: [.read, .close], failure: .connectionLost(sent: true), face: .good),
    Misbehaviour(name: "reset, TLS", script: [.read, .reset], failure: .connectionLost(sent: true), face: .good),
    Misbehaviour(
      name: "half a status line", script: [.read, .send("HTTP/1.1 2"), .close], failure: .connectionLost(sent: true)),
    Misbehaviour(name: "half a header", script: [.read, .send(head), .close], failure: .connectionLost(sent: true)),
    Misbehaviour(
      name: "reset in the header", script: [.read, .send(head), .reset], failure: .connectionLost(sent: true)),
    Misbehaviour(
      name: "half a body", script: [.read, .send(head + "Content-Length: 20\r\n\r\n{\"a\""), .close],
      failure: .connectionLost(sent: true)),
    Misbehaviour(
      name: "half a body, TLS", script: [.read, .send(head + "Content-Length: 20\r\n\r\n{\"a\""), .close],
      failure: .connectionLost(sent: true), face: .good),
    Misbehaviour(
      name: "no end of chunks", script: [.read, .send(chunked + "4\r\n{\"a\""), .close],
      failure: .connectionLost(sent: true)),
    Misbehaviour(
      name: "last chunk missing", script: [.read, .send(chunked + "4\r\n{\"a\"\r\n"), .close],
      failure: .connectionLost(sent: true)),
    Misbehaviour(name: "silence", script: [.read, .wait], failure: .timedOut(sent: true)),
    Misbehaviour(name: "dripping header", script: [.read, .drip(head)], failure: .timedOut(sent: true)),
    Misbehaviour(
      name: "dripping body", script: [.read, .send(head + "Content-Length: 90000\r\n\r\n"), .drip("a")],
      failure: .timedOut(sent: true)),
    Misbehaviour(
      name: "body as announced, too large",
      script: [.read, .send(head + "Content-Length: 2000000\r\n\r\n"), .flood("a")],
      failure: .responseTooLarge),
    Misbehaviour(
      name: "endless body", script: [.read, .send(head + "Connection: close\r\n\r\n"), .flood("a")],
      failure: .responseTooLarge),
    Misbehaviour(
      name: "endless chunks", script: [.read, .send(chunked), .flood("4\r\naaaa\r\n")], failure: .responseTooLarge),
    Misbehaviour(
      name: "endless header lines", script: [.read, .send(head), .flood("A: b\r\n")], failure: .responseTooLarge),
    Misbehaviour(
      name: "one endless header line", script: [.read, .send(head + "A: "), .flood("b")], failure: .responseTooLarge),
    Misbehaviour(
      name: "endless interim responses", script: [.read, .flood("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n")],
      failure: .responseTooLarge),
    Misbehaviour(
      name: "endless trailers", script: [.read, .send(chunked + "0\r\n"), .flood("A: b\r\n")],
      failure: .responseTooLarge),
    Misbehaviour(name: "HTTP/0.9", script: [.read, .send("<html>hello</html>"), .close], failure: .malformedResponse),
    Misbehaviour(
      name: "another protocol", script: [.read, .send("220 mail ready\r\n"), .close], failure: .malformedResponse),
    Misbehaviour(
      name: "no chunks", script: [.read, .send(chunked + "zz\r\n{}\r\n"), .wait], failure: .malformedResponse),
    Misbehaviour(
      name: "a chunk of absurd size", script: [.read, .send(chunked + "FFFFFFFFFFFFFFFFFF\r\n{}\r\n"), .wait],
      failure: .malformedResponse),
    Misbehaviour(
      name: "a length that is none", script: [.read, .send(head + "Content-Length: -3\r\n\r\n{}"), .wait],
      failure: .malformedResponse),
    Misbehaviour(
      name: "a status that is none", script: [.read, .send("HTTP/1.1 99 X\r\n\r\n"), .close],
      failure: .malformedResponse),
    Misbehaviour(
      name: "a status beyond all", script: [.read, .send("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n"), .wait],
      failure: .malformedResponse),
    Misbehaviour(
      name: "NUL in the header",
      script: [.read, .send("HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 0\r\n\r\n"), .wait],
      failure: .malformedResponse),
    Misbehaviour(
      name: "another protocol asked for", script: [.read, .send("HTTP/1.1 101 Up\r\nUpgrade: x\r\n\r\n"), .close],
      failure: .connectionLost(sent: true)),
  ]
}

@Suite(.standardTimeLimit) struct MisbehaviourTests {
  @Test(arguments: Misbehaviour.afterTheRequest)
  func `A misbehaving server ends a call with one kind of failure, and the request was sent once at most`(
    _ misbehaviour: Misbehaviour
  ) async throws {
    let isLate = misbehaviour.failure == .timedOut(sent: true)
    var outcome: HTTPFailure?
    for timeout in isLate ? Patience.timeouts(from: .milliseconds(300)) : [Patience.ceiling] {
      let server = ScriptedServer(misbehaviour.face, misbehaviour.script)
      let transport = PublicTransport(try client(interactive: timeout), policy: try testPolicy())
      let request = HTTPRequest(.post, try server.url(), body: .json(try secret("{}")))
      outcome = await failure { () async throws(HTTPFailure) in try await transport.send(request) }
      let wasRead = server.requests.contains { $0.hasPrefix("POST") }
      // What did arrive may never count as not sent.
      #expect(outcome?.requestMayHaveArrived == true || !wasRead)
      #expect(server.requests.count <= 1)
      if outcome == misbehaviour.failure, wasRead { return }
    }
    Issue.record("\(outcome.map { "\($0)" } ?? "a response")")
  }

  @Test func `Nobody at the port, no such name, no route: nothing was sent`() async throws {
    let server = ScriptedServer.answering()
    server.close()
    let url = try server.url()
    let transport = PublicTransport(try client())
    var outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
    #expect(outcome == .connectFailed)
    let nowhere = try HTTPURL("https://nowhere.invalid/")
    outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, nowhere)) }
    #expect(outcome == .nameNotResolved)
    #expect(outcome?.requestMayHaveArrived == false)
  }

  @Test(arguments: [ScriptedServer.Step.reset, .close])
  func `A connection that ends in its handshake was lost before the request`(_ end: ScriptedServer.Step) async throws {
    let server = ScriptedServer(.plain, [.take, end])
    let url = try HTTPURL("https://localhost:\(server.port)/")
    let transport = PublicTransport(try client())
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
    #expect(outcome == .connectionLost(sent: false))
  }

  @Test func `A handshake that never ends is a time-out before the request`() async throws {
    let server = ScriptedServer(.plain, [.wait])
    let url = try HTTPURL("https://localhost:\(server.port)/")
    let transport = PublicTransport(try client(connect: .milliseconds(200)))
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
    #expect(outcome == .timedOut(sent: false))
  }

  @Test func `What follows a response is never taken for the next one`() async throws {
    let evil = ScriptedServer.reply(200, #"{"evil":1}"#)
    for face in [ScriptedServer.Face.plain, .good] {
      let server = ScriptedServer(
        face, [.read, .send(ScriptedServer.reply(200, #"{"first":1}"#) + evil), .read, .send(evil), .again],
        [.read, .send(ScriptedServer.reply(200, #"{"second":1}"#)), .again])
      let transport = PublicTransport(try client(), policy: try testPolicy())
      #expect(try await transport.send(HTTPRequest(.get, try server.url())).text == #"{"first":1}"#)
      let second = try await transport.send(HTTPRequest(.get, try server.url("/2"))).text
      #expect(second == #"{"second":1}"#, "\(face)")
    }
  }

  @Test func `What is sent unasked between two requests is not taken for a response`() async throws {
    let evil = ScriptedServer.reply(200, #"{"evil":1}"#)
    for face in [ScriptedServer.Face.plain, .good] {
      let server = ScriptedServer(
        face, [.read, .send(ScriptedServer.reply(200, "{}")), .send(evil), .read, .wait],
        [.read, .send(ScriptedServer.reply(200, #"{"second":1}"#)), .again])
      let transport = PublicTransport(try client(), policy: try testPolicy())
      _ = try await transport.send(HTTPRequest(.get, try server.url()))
      // Both responses have left the server.
      #expect(server.requests.count == 1)
      let second = try await transport.send(HTTPRequest(.get, try server.url("/2"))).text
      #expect(second == #"{"second":1}"#, "\(face)")
    }
  }

  @Test func `More body than announced is cut off`() async throws {
    let server = ScriptedServer(
      .plain, [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}garbage"), .again])
    let transport = PublicTransport(try client())
    #expect(try await transport.send(HTTPRequest(.get, try server.url())).text == "{}")
  }

  @Test func `Every kept limit of a response may be used up to its end`() async throws {
    let body = String(repeating: "a", count: 1 << 20)
    let fields = (0..<120).map { "X-\($0): \(String(repeating: "b", count: 480))" }
    let server = ScriptedServer(.plain, [.read, .send(ScriptedServer.reply(200, body, fields))])
    let response = try await PublicTransport(try client()).send(HTTPRequest(.get, try server.url()))
    #expect(response.body.count == 1 << 20)
    #expect(response.field("x-119")?.utf8.count == 480)
    #expect(response.mediaType == nil)
  }
}
