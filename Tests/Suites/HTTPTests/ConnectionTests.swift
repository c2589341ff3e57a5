import HTTPMessage
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct ConnectionTests {
  @Test(arguments: [ScriptedServer.Face.plain, .good])
  func `Reading requests share a kept connection`(_ face: ScriptedServer.Face) async throws {
    let server = ScriptedServer.answering(face)
    let transport = PublicTransport(try client(), policy: try testPolicy())
    for _ in 0..<20 { _ = try await transport.send(HTTPRequest(.get, try server.url())) }
    #expect(server.connections == 1)
    #expect(server.requests.count == 20)
  }

  @Test func `Both transports of a client share its connections`() async throws {
    let server = ScriptedServer.answering()
    let client = try client()
    _ = try await PublicTransport(client).send(HTTPRequest(.get, try server.url()))
    _ = try await AuthenticatedTransport(client).send(HTTPRequest(.get, try server.url()), bearer: try secret("t"))
    #expect(server.connections == 1)
  }

  @Test func `A request that may be sent once gets a new connection, which is then kept for others`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    for _ in 0..<3 { _ = try await transport.send(HTTPRequest(.post, try server.url())) }
    #expect(server.connections == 3)
    for _ in 0..<3 { _ = try await transport.send(HTTPRequest(.get, try server.url())) }
    #expect(server.connections == 3)
  }

  @Test(arguments: [ScriptedServer.Face.plain, .good])
  func `A kept connection that dies under a reading request is replaced, once`(_ face: ScriptedServer.Face) async throws
  {
    let dying: [ScriptedServer.Step] = [.read, .send(ScriptedServer.reply(200, "{}")), .read, .close]
    let server = ScriptedServer(face, dying, [.read, .send(ScriptedServer.reply(200, #"{"second":1}"#)), .again])
    let transport = PublicTransport(try client(), policy: try testPolicy())
    _ = try await transport.send(HTTPRequest(.get, try server.url()))
    #expect(try await transport.send(HTTPRequest(.get, try server.url())).text == #"{"second":1}"#)
    #expect(server.connections == 2)
    #expect(server.requests.count == 3)
  }

  @Test func `A reading request is not repeated for ever`() async throws {
    let answered: [ScriptedServer.Step] = [.read, .send(ScriptedServer.reply(200, "{}")), .read, .close]
    let server = ScriptedServer(.plain, answered, [.read, .close])
    let transport = PublicTransport(try client())
    let request = HTTPRequest(.get, try server.url())
    _ = try await transport.send(request)
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(request) }
    #expect(outcome == .connectionLost(sent: true))
    #expect(server.requests.count == 3)
  }

  @Test func `Without a new connection of its own, a request is stopped before its second sending`() async throws {
    // libcurl by itself sends a POST again when a kept connection dies: this is what stands behind the new connection.
    let answered: [ScriptedServer.Step] = [.read, .send(ScriptedServer.reply(200, "{}")), .read, .close]
    let server = ScriptedServer(.plain, answered, [.read, .send(ScriptedServer.reply(200, "{}")), .again])
    var settings = settings()
    settings.keepsForOnce = true
    let transport = PublicTransport(try HTTPClient(settings))
    _ = try await transport.send(HTTPRequest(.get, try server.url()))
    let request = HTTPRequest(.post, try server.url(), body: .json(try secret(#"{"refreshToken":"r"}"#)))
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(request) }
    #expect(outcome == .connectionLost(sent: true))
    #expect(server.requests.filter { $0.hasPrefix("POST") }.count == 1)
  }

  @Test func `Connections to one server stay few, however many requests got a new one`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    for _ in 0..<20 { _ = try await transport.send(HTTPRequest(.post, try server.url())) }
    #expect(server.connections == 20)
    // The server learns of an end a moment later.
    let most = HTTPLimits().requestsPerServer
    #expect(Patience.wait { (1...most).contains(20 - server.ledger.count { $0.hasPrefix("end") }) })
  }

  @Test func `A client that has nothing to do lets go of its connections, and begins anew`() async throws {
    let server = ScriptedServer.answering()
    var settings = settings()
    settings.linger = .milliseconds(50)
    let transport = PublicTransport(try HTTPClient(settings))
    for round in 0..<3 {
      _ = try await transport.send(HTTPRequest(.get, try server.url()))
      while !server.ledger.contains("end \(round)") { await Task.yield() }
    }
    #expect(server.connections == 3)
  }

  @Test func `However many connections a server has, a request to it is not held back`() async throws {
    let answered: [ScriptedServer.Step] = [.read, .hold, .send(ScriptedServer.reply(200, "{}"))]
    let server = ScriptedServer(.plain, answered)
    let transport = PublicTransport(try client())
    let url = try server.url()
    let flights = (0..<20).map { _ in
      Task { await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) } }
    }
    while server.requests.count < 20 { await Task.yield() }
    async let read = transport.send(HTTPRequest(.get, url))
    while server.requests.count < 21 { await Task.yield() }
    server.release()
    #expect(try await read.status == 200)
    for flight in flights { #expect(await flight.value == nil) }
    #expect(server.connections == 21)
  }

  @Test func `A thousand requests at once are all answered, over few connections`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    let url = try server.url()
    let answered = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) } == nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(answered == 1000)
    #expect(server.connections <= HTTPLimits().requestsPerServer)
    #expect(server.requests.count == 1000)
  }

  @Test func `A silent server holds nobody up but those who ask it`() async throws {
    let quick = ScriptedServer.answering()
    var hasTime = HTTPRequest(.get, try quick.url())
    hasTime.deadline = .refresh
    var failures: [HTTPFailure?] = []
    for timeout in Patience.timeouts(from: .milliseconds(1500)) {
      let silent = ScriptedServer(.plain, [.read, .wait])
      let transport = PublicTransport(try client(interactive: timeout))
      let url = try silent.url()
      failures = try await withThrowingTaskGroup(of: HTTPFailure?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
          }
        }
        for _ in 0..<5 { #expect(try await transport.send(hasTime).status == 200) }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(silent.connections <= 8)
      // On a machine that is too slow, fewer get so far.
      if failures.filter({ $0 == .timedOut(sent: true) }).count >= 8 { break }
    }
    // Eight were under way; for the others no time was left when those had failed.
    #expect(failures.filter { $0 == .timedOut(sent: true) }.count == 8)
    #expect(failures.filter { $0 == .timedOut(sent: false) }.count == 12)
  }

  @Test func `More requests than can wait are refused at once`() async throws {
    let silent = ScriptedServer(.plain, [.read, .wait])
    var limits = HTTPLimits()
    limits.requestsPerServer = 1
    limits.waitingPerServer = 1
    let transport = PublicTransport(try client(limits: limits))
    let url = try silent.url()
    let first = await withTaskGroup(of: HTTPFailure?.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
        }
      }
      let first = await group.next()
      group.cancelAll()
      return first
    }
    #expect(first == .overloaded)
  }

  @Test func `Cancelling a task ends its reading request at once, and says whether it was sent`() async throws {
    let server = ScriptedServer(.plain, [.read, .wait])
    let transport = PublicTransport(try client())
    let url = try server.url()
    let task = Task {
      await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
    }
    while server.requests.isEmpty { await Task.yield() }
    task.cancel()
    #expect(await task.value == .cancelled(sent: true))
    // The connection was ended too.
    #expect(server.ledger.contains("end 0"))
  }

  @Test func `A task that is cancelled before it sends gets nothing sent`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    let url = try server.url()
    let outcome = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
    }.value
    #expect(outcome == .cancelled(sent: false))
    #expect(server.requests.isEmpty)
  }

  @Test func `What comes too late for its first byte is not sent`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    let url = try server.url()
    let send = { @Sendable (latest: Duration) in
      await SendingDeadline.$uptime.withValue(latest) {
        await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
      }
    }
    #expect(await send(BootClock.now - .milliseconds(1)) == .timedOut(sent: false))
    #expect(server.requests.isEmpty)
    #expect(await send(BootClock.now + .seconds(60)) == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `Cancelling at any moment ends every request exactly once`() async throws {
    let server = ScriptedServer.answering()
    let client = try client()
    let transport = PublicTransport(client)
    let url = try server.url()
    for round in 0..<300 {
      let tasks = (0..<3).map { _ in
        Task { await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) } }
      }
      for _ in 0..<(round % 40) { await Task.yield() }
      tasks[round % 3].cancel()
      for (index, task) in tasks.enumerated() {
        let outcome = await task.value
        if index != round % 3 { #expect(outcome == nil) }
      }
    }
    await client.close()
  }

  @Test func `Closing ends what is under way, what waits and what comes later`() async throws {
    let server = ScriptedServer(.plain, [.read, .wait])
    let client = try client()
    let transport = PublicTransport(client)
    let url = try server.url()
    let tasks = (0..<20).map { _ in
      Task { await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) } }
    }
    while server.requests.count < 8 { await Task.yield() }
    await client.close()
    var outcomes: [HTTPFailure?] = []
    for task in tasks { outcomes.append(await task.value) }
    #expect(outcomes.filter { $0 == .cancelled(sent: true) }.count == 8)
    // Those that came in too late to be taken in found the door closed.
    #expect(outcomes.filter { $0 == .cancelled(sent: false) || $0 == .closed }.count == 12)
    let late = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
    #expect(late == .closed)
    await client.close()
  }

  @Test func `Without libcurl every request says so, and what is installed later is found`() async throws {
    let server = ScriptedServer.answering()
    var settings = settings()
    settings.library = "libcurl-that-nobody-has.so.4"
    let transport = PublicTransport(try HTTPClient(settings))
    let url = try server.url()
    for _ in 0..<2 {
      let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
      // Unless another test has loaded the real one before: it is one for the whole process.
      #expect(outcome == .libraryMissing || outcome == nil)
    }
  }
}
