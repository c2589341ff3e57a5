import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Requests and responses that pass by in pieces.
@Suite(.standardTimeLimit) struct StreamTests {
  /// Both ends of a stream: gives and takes as much as it was let.
  private final class Ends: BodySource, ResponseSink, Sendable {
    struct State {
      /// How much it has room for, and how much it has to give before it waits.
      var (room, supply): (Int, Int)
      /// How much it has to give at all.
      var toGive = 0
      var heads: [HTTPResponse] = []
      var taken: [UInt8] = []
      var count = 0
      var hasWaited = false
    }
    let state: Mutex<State>

    init(room: Int = .max, supply: Int = .max, toGive: Int = 0) {
      state = Mutex(State(room: room, supply: supply, toGive: toGive))
    }

    func fill(_ room: inout OutputSpan<UInt8>) -> Bool {
      state.withLock { state in
        let count = min(room.freeCapacity, state.supply, state.toGive)
        for _ in 0..<count { room.append(0x78) }
        state.supply -= count
        state.toGive -= count
        state.hasWaited = state.hasWaited || count == 0 && state.toGive > 0
        return state.toGive > 0
      }
    }

    func begin(_ head: HTTPResponse) { state.withLock { $0.heads.append(head) } }

    func take(_ piece: Span<UInt8>) -> PieceAnswer {
      state.withLock { state in
        guard piece.count <= state.room else {
          state.hasWaited = true
          return .later
        }
        state.room -= piece.count
        state.count += piece.count
        if state.count < 1 << 16 { for index in piece.indices { state.taken.append(piece[index]) } }
        return .taken
      }
    }

    /// Gives and takes all from now on.
    func open(_ stream: HTTPStream) {
      state.withLock { ($0.room, $0.supply) = (.max, .max) }
      stream.resume()
    }

    var text: String { state.withLock { String(decoding: $0.taken, as: UTF8.self) } }
    var count: Int { state.withLock { $0.count } }
    var heads: [HTTPResponse] { state.withLock { $0.heads } }

    /// Waits until libcurl waits for this end.
    func hasWaited() async { while !state.withLock({ $0.hasWaited }) { await Task.yield() } }
    func hasTaken(_ text: String) async { while self.text != text { await Task.yield() } }
  }

  private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
  private static let large = 100 << 20
  private static var pouring: [ScriptedServer.Step] {
    [.send("HTTP/1.1 200 OK\r\nContent-Length: \(large)\r\n\r\n"), .pour(large)]
  }

  private static func stream(
    _ server: ScriptedServer, _ ends: Ends, _ method: HTTPRequest.Method = .get, _ upload: HTTPUpload? = nil,
    stillness: Duration = Patience.ceiling, _ client: HTTPClient? = nil
  ) throws -> HTTPStream {
    AuthenticatedTransport(try client ?? HTTPTests.client(), policy: try testPolicy()).stream(
      HTTPRequest(method, try server.url()), upload, bearer: try secret("token"), stillness: stillness, to: ends)
  }

  /// Begins a stream; its outcome is a status or a failure.
  private static func run(_ stream: HTTPStream) -> Task<Result<Int, HTTPFailure>, Never> {
    Task {
      do throws(HTTPFailure) { return .success(try await stream.run().status) } catch { return .failure(error) }
    }
  }

  @Test(arguments: [ScriptedServer.Face.plain, .good])
  func `What has come is there before the rest, without interim responses and trailers`(
    _ face: ScriptedServer.Face
  ) async throws {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    let server = ScriptedServer(
      face, [.read, .send(early + Self.chunked + "5\r\nfirst\r\n"), .hold, .send("1\r\n!\r\n0\r\nX-Late: c\r\n\r\n")])
    let ends = Ends()
    let outcome = Self.run(try Self.stream(server, ends))
    await ends.hasTaken("first")
    #expect(ends.heads.map { $0.field("x-a") } == ["b"])
    server.release()
    #expect(await outcome.value == .success(200))
    #expect(ends.text == "first!")
    #expect(ends.heads.map { [$0.field("link"), $0.field("x-late")] } == [[nil, nil]])
  }

  @Test func `A server waits while there is no room, and goes on where it was`() async throws {
    let server = ScriptedServer(.plain, [.read] + Self.pouring)
    let ends = Ends(room: 100_000)
    let stream = try Self.stream(server, ends)
    let outcome = Self.run(stream)
    await ends.hasWaited()
    let left = server.ledger.last?.split(separator: " ") ?? []
    // What lies between it and us are the kernel's buffers.
    #expect(left.first == "left" && Int(left.last ?? "") ?? 0 > Self.large / 2)
    #expect(ends.count <= 100_000)
    ends.open(stream)
    #expect(await outcome.value == .success(200))
    #expect(ends.count == Self.large)
  }

  @Test(arguments: [nil, 1_000_000])
  func `A body is sent as it comes into being, in chunks where its length is not known`(_ count: Int?) async throws {
    let server = ScriptedServer(.plain, [.swallow, .send(ScriptedServer.reply(201, "made"))])
    let ends = Ends(supply: 70_000, toGive: 1_000_000)
    let stream = try Self.stream(server, ends, .put, HTTPUpload(ends, count: count, contentType: "text/x"))
    let outcome = Self.run(stream)
    await ends.hasWaited()
    #expect(!server.ledger.contains { $0.hasPrefix("body") })
    ends.open(stream)
    #expect(await outcome.value == .success(201))
    #expect(ends.text == "made" && server.ledger.contains("body 0 1000000"))
    let head = server.requests.first ?? ""
    #expect(head.hasPrefix("PUT / HTTP/1.1\r\n") && head.contains("\r\nContent-Type: text/x\r\n"))
    #expect(head.contains(count == nil ? "\r\nTransfer-Encoding: chunked" : "\r\nContent-Length: 1000000"))
    #expect(!head.contains("Expect"))
  }

  @Test func `A body is never longer than was said, and a shorter one is broken off`() async throws {
    let server = ScriptedServer(.plain, [.swallow, .send(ScriptedServer.reply(200, "")), .wait])
    let long = Ends(toGive: 30)
    #expect(
      await Self.run(try Self.stream(server, long, .post, HTTPUpload(long, count: 20, contentType: nil))).value
        == .success(200))
    #expect(server.ledger.contains("body 0 20") && long.state.withLock { $0.toGive } == 10)
    let short = Ends(toGive: 10)
    let upload = try HTTPUpload(short, count: 20, contentType: nil)
    #expect(
      await Self.run(try Self.stream(server, short, .post, upload)).value == .failure(.connectionLost(sent: true)))
    #expect(throws: HTTPFailure.invalidField) { try HTTPUpload(short, count: 20, contentType: "a\r\nb: c") }
  }

  @Test(arguments: [HTTPRequest.Method.get, .post])
  func `Whoever gives up ends it in the middle`(_ method: HTTPRequest.Method) async throws {
    let server = ScriptedServer(.plain, [.swallow] + Self.pouring)
    let ends = Ends(room: 100_000)
    let upload = method == .get ? nil : try HTTPUpload(ends, count: 0, contentType: nil)
    let outcome = Self.run(try Self.stream(server, ends, method, upload))
    await ends.hasWaited()
    outcome.cancel()
    #expect(await outcome.value == .failure(.cancelled(sent: true)))
    #expect(server.ledger.last == "end 0")
  }

  @Test(arguments: [ScriptedServer.Step.close, .reset])
  func `A server that dies in the middle is noticed after what it sent`(_ end: ScriptedServer.Step) async throws {
    let server = ScriptedServer(.plain, [.read, .send(Self.chunked + "5\r\nfirst\r\n"), .hold, end])
    let ends = Ends()
    let outcome = Self.run(try Self.stream(server, ends))
    await ends.hasTaken("first")
    server.release()
    #expect(await outcome.value == .failure(.connectionLost(sent: true)))
  }

  @Test func `A server that dies while its client sends is noticed`() async throws {
    let server = ScriptedServer(.plain, [.take, .hold, .reset])
    let ends = Ends(supply: 70_000, toGive: Self.large)
    let stream = try Self.stream(server, ends, .post, HTTPUpload(ends, count: nil, contentType: nil))
    let outcome = Self.run(stream)
    await ends.hasWaited()
    server.release()
    ends.open(stream)
    #expect(await outcome.value == .failure(.connectionLost(sent: true)))
  }

  @Test(arguments: [302, 401, 503], ["keep-alive", "close"])
  func `Whatever the status, the response is passed on, also before all is sent`(
    _ status: Int, _ connection: String
  ) async throws {
    let reply = ScriptedServer.reply(status, "no", ["Location: /other", "Connection: " + connection])
    let server = ScriptedServer(.plain, [.take, .hold, .send(reply), .wait])
    let (reader, writer) = (Ends(), Ends(supply: 10, toGive: Self.large))
    let sending = try Self.stream(server, writer, .post, HTTPUpload(writer, count: nil, contentType: nil))
    let outcomes = [Self.run(try Self.stream(server, reader)), Self.run(sending)]
    await writer.hasWaited()
    server.release()
    for outcome in outcomes { #expect(await outcome.value == .success(status)) }
    for ends in [reader, writer] {
      #expect(ends.text == "no" && ends.heads.map { $0.field("location") } == ["/other"])
    }
    #expect(server.connections == 2)
  }

  @Test func `It ends when the server stands still, and not while the server waits for us`() async throws {
    var outcomes: [Result<Int, HTTPFailure>] = []
    for timeout in Patience.timeouts(from: .milliseconds(300)) {
      let silent = ScriptedServer(.plain, [.read, .send(Self.chunked + "5\r\nfirst\r\n"), .wait])
      let server = ScriptedServer(.plain, [.read, .send(ScriptedServer.reply(200, "held")), .wait])
      let (held, ends) = (Ends(room: 0), Ends())
      let client = try client()
      let stream = try Self.stream(server, held, stillness: timeout, client)
      let outcome = Self.run(stream)
      await held.hasWaited()
      // Its time began later.
      outcomes = [await Self.run(try Self.stream(silent, ends, stillness: timeout, client)).value]
      held.open(stream)
      outcomes.append(await outcome.value)
      if outcomes == [.failure(.timedOut(sent: true)), .success(200)] { break }
    }
    #expect(outcomes == [.failure(.timedOut(sent: true)), .success(200)])
  }

  @Test func `One that spends is not begun any more, as without a stream`() async throws {
    let client = try client()
    client.stopSpending()
    let server = ScriptedServer.answering()
    #expect(await Self.run(try Self.stream(server, Ends(), .post, nil, client)).value == .failure(.closed))
    #expect(await Self.run(try Self.stream(server, Ends(), .get, nil, client)).value == .success(200))
  }
}
