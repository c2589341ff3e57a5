import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Streams that are carried out on the threads of their callers.
@Suite(.standardTimeLimit) struct DirectTransferTests {
  /// Takes a response, as far as there is room.
  private final class Taker: ResponseSink, Sendable {
    private struct State {
      var room: Int
      var count = 0
      var text = ""
      /// How much it had when it had no room first.
      var full: Int?
    }
    private let state: Mutex<State>

    init(room: Int = .max) { state = Mutex(State(room: room)) }

    func begin(_ head: HTTPResponse) {}

    func take(_ piece: Span<UInt8>) -> PieceAnswer {
      state.withLock { state in
        guard piece.count <= state.room - state.count else {
          state.full = state.full ?? state.count
          return .later
        }
        state.count += piece.count
        if state.count < 100 {
          for index in piece.indices { state.text.append(Character(Unicode.Scalar(piece[index]))) }
        }
        return .taken
      }
    }

    func open() { state.withLock { $0.room = .max } }
    var count: Int { state.withLock { $0.count } }
    var text: String { state.withLock { $0.text } }
    var full: Int? { state.withLock { $0.full } }
  }

  private final class Flag: Sendable { let isUp = Atomic(false) }

  private typealias Outcome = Result<Int, HTTPFailure>

  /// Carries a stream out on a thread of its own, until its end or until `gives` says that it is given up.
  private static func run(
    _ stream: HTTPStream, on lanes: TransferLanes, gives: @escaping @Sendable () -> Bool = { false },
    each: @escaping @Sendable (borrowing DirectTransfer) -> Void = { _ in },
    leaving: @escaping @Sendable () -> Void = {}
  ) async -> Outcome? {
    await withCheckedContinuation { (ended: CheckedContinuation<Outcome?, Never>) in
      lanes.enter()
      let body: @Sendable () -> Void = {
        TransferLanes.prepareThread()
        let outcome = carryOut(stream, on: lanes, gives: gives, each: each)
        leaving()
        lanes.leave()
        ended.resume(returning: outcome)
      }
      do throws(Errno) { try SystemThread(body).detach() } catch {
        lanes.leave()
        ended.resume(returning: nil)
      }
    }
  }

  private static func carryOut(
    _ stream: HTTPStream, on lanes: TransferLanes, gives: () -> Bool, each: (borrowing DirectTransfer) -> Void
  ) -> Outcome? {
    do throws(HTTPFailure) {
      let transfer = try stream.begin(on: KeptLane(of: lanes))
      while !gives() {
        transfer.turn()
        if let result = transfer.result { return result.map(\.status) }
        each(transfer)
        _ = transfer.wait(with: [])
      }
      return nil
    } catch { return .failure(error) }
  }

  private static func stream(
    _ server: ScriptedServer, _ taker: Taker, _ transport: AuthenticatedTransport, _ method: HTTPRequest.Method = .get
  ) throws -> HTTPStream {
    transport.stream(
      HTTPRequest(method, try server.url()), bearer: try secret("token"), stillness: Patience.ceiling, to: taker)
  }

  private static func transport(_ client: HTTPClient? = nil) throws -> AuthenticatedTransport {
    AuthenticatedTransport(try client ?? HTTPTests.client(), policy: try testPolicy())
  }

  @Test(arguments: [ScriptedServer.Face.plain, .good])
  func `requests of several threads, one after the other, share a kept connection`(
    _ face: ScriptedServer.Face
  ) async throws {
    let server = ScriptedServer.answering(face, "whole")
    let transport = try Self.transport()
    let lanes = TransferLanes(of: transport)
    for _ in 0..<10 {
      let taker = Taker()
      #expect(await Self.run(try Self.stream(server, taker, transport), on: lanes) == .success(200))
      #expect(taker.text == "whole")
    }
    #expect(server.connections == 1 && server.requests.count == 10)
    #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer token\r\n") })
    lanes.close()
    #expect(await Self.run(try Self.stream(server, Taker(), transport), on: lanes) == .success(200))
    #expect(server.connections == 2)
  }

  @Test func `requests of every form follow each other on one lane`() async throws {
    let server = ScriptedServer(.plain, [.read, .send(ScriptedServer.reply(200, "")), .again])
    let transport = try Self.transport()
    let lanes = TransferLanes(of: transport)
    let methods: [HTTPRequest.Method] = [
      .get, .get, .head, .get, .options, .options, .get, .delete, .delete, .post, .post, .get, .put, .patch, .get,
      .head, .head,
    ]
    for (index, method) in methods.enumerated() {
      let request = HTTPRequest(method, try server.url("/\(index)"))
      let token = try secret("token-\(index)")
      let stream = transport.stream(request, bearer: token, stillness: Patience.ceiling, to: Taker())
      #expect(await Self.run(stream, on: lanes) == .success(200))
    }
    let requests = server.requests
    #expect(requests.count == methods.count)
    for (index, method) in methods.enumerated() where index < requests.count {
      #expect(requests[index].hasPrefix("\(method.rawValue) /\(index) HTTP/1.1\r\n"), "\(requests[index])")
      #expect(requests[index].contains("Authorization: Bearer token-\(index)\r\n"))
    }
  }

  @Test func `a certificate that nobody vouches for, and a server that is away, are failures`() async throws {
    let transport = try Self.transport()
    let lanes = TransferLanes(of: transport)
    let server = ScriptedServer.answering(.selfSigned)
    guard case .failure(let failure)? = await Self.run(try Self.stream(server, Taker(), transport), on: lanes) else {
      Issue.record("it was sent")
      return
    }
    #expect(!failure.requestMayHaveArrived)
    let gone = ScriptedServer.answering()
    gone.close()
    guard case .failure? = await Self.run(try Self.stream(gone, Taker(), transport), on: lanes) else {
      Issue.record("nobody listens")
      return
    }
  }

  @Test func `a kept connection that dies under a reading request is replaced`() async throws {
    let dying: [ScriptedServer.Step] = [.read, .send(ScriptedServer.reply(200, "{}")), .close]
    let server = ScriptedServer(.plain, dying, [.read, .send(ScriptedServer.reply(200, "second")), .again])
    let transport = try Self.transport()
    let lanes = TransferLanes(of: transport)
    #expect(await Self.run(try Self.stream(server, Taker(), transport), on: lanes) == .success(200))
    let taker = Taker()
    #expect(await Self.run(try Self.stream(server, taker, transport), on: lanes) == .success(200))
    #expect(taker.text == "second" && server.connections == 2)
  }

  @Test func `a server waits while there is no room, and goes on where it was`() async throws {
    let large = 100 << 20
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(large)\r\n\r\n"
    let server = ScriptedServer(.plain, [.read, .send(head), .pour(large)])
    let transport = try Self.transport()
    let taker = Taker(room: 100_000)
    let open: @Sendable (borrowing DirectTransfer) -> Void = { transfer in
      guard taker.full != nil else { return }
      taker.open()
      transfer.resume()
    }
    let stream = try Self.stream(server, taker, transport)
    let outcome = await Self.run(stream, on: TransferLanes(of: transport), each: open)
    #expect(outcome == .success(200) && taker.count == large)
    #expect((1...100_000).contains(taker.full ?? 0))
  }

  @Test func `whoever gives up ends it, and the lane serves the next`() async throws {
    let pouring: [ScriptedServer.Step] = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx"), .wait]
    let server = ScriptedServer(.plain, pouring, [.read, .send(ScriptedServer.reply(200, "next")), .again])
    let transport = try Self.transport()
    let lanes = TransferLanes(of: transport)
    let first = Taker()
    #expect(await Self.run(try Self.stream(server, first, transport), on: lanes, gives: { first.count > 0 }) == nil)
    let taker = Taker()
    #expect(await Self.run(try Self.stream(server, taker, transport), on: lanes) == .success(200))
    #expect(taker.text == "next" && server.connections == 2)
  }

  @Test func `a client that stops spending, and one that is closed, begin nothing more`() async throws {
    let server = ScriptedServer.answering()
    let client = try client()
    let transport = try Self.transport(client)
    let lanes = TransferLanes(of: transport)
    client.stopSpending()
    #expect(await Self.run(try Self.stream(server, Taker(), transport, .post), on: lanes) == .failure(.closed))
    #expect(await Self.run(try Self.stream(server, Taker(), transport), on: lanes) == .success(200))
    await client.close()
    #expect(await Self.run(try Self.stream(server, Taker(), transport), on: lanes) == .failure(.closed))
  }

  @Test func `closing a client ends what is under way, and waits for its threads`() async throws {
    let server = ScriptedServer(.plain, [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx"), .wait])
    let client = try client()
    let transport = try Self.transport(client)
    let (taker, lanes) = (Taker(), TransferLanes(of: transport))
    let stream = try Self.stream(server, taker, transport)
    let hasLeft = Flag()
    let running = Task {
      await Self.run(stream, on: lanes, leaving: { hasLeft.isUp.store(true, ordering: .releasing) })
    }
    while taker.count == 0 { await Task.yield() }
    await client.close()
    let waited = hasLeft.isUp.load(ordering: .acquiring)
    #expect(waited)
    #expect(await running.value == .failure(.cancelled(sent: true)))
  }

  @Test func `lanes that were not used for a while are ended`() async throws {
    let server = ScriptedServer.answering()
    var settings = settings()
    settings.linger = .zero
    let transport = try Self.transport(try HTTPClient(settings))
    let lanes = TransferLanes(of: transport)
    #expect(lanes.trim() == nil)
    for _ in 0..<2 {
      #expect(await Self.run(try Self.stream(server, Taker(), transport), on: lanes) == .success(200))
      #expect(lanes.trim() == nil)
    }
    #expect(server.connections == 2)
  }
}
