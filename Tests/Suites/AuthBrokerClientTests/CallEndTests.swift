import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import AuthBrokerClient

/// How calls end that are not simply answered.
@Suite(.standardTimeLimit) struct CallEndTests {
  @Test func `a cancelled task takes its request back, and the late answer is passed over`() async throws {
    let (cancelled, cancel) = AsyncStream<String>.makeStream()
    let (arrived, arrive) = AsyncStream<Void>.makeStream()
    let client = try ScriptedBroker.client { wire in
      let request = wire.read()
      arrive.yield()
      let notice = wire.read()
      let id = notice?["params"]?["id"].map { String(decoding: $0.text, as: UTF8.self) } ?? ""
      cancel.yield("\(ScriptedBroker.method(notice)) \(id == ScriptedBroker.id(request))")
      wire.refuse(request, -32800, #"{"kind":"cancelled","nextAction":"none","retryable":false}"#)
      while let request = wire.read() { wire.answer(request, ScriptedBroker.session) }
    }
    let call = Task { try await client.accessToken() }
    for await _ in arrived { break }
    call.cancel()
    await #expect(throws: ClientError.cancelled) { try await call.value }
    for await notice in cancelled {
      #expect(notice == "$/cancelRequest true")
      break
    }
    #expect(try await client.session().state == .authenticated)
  }

  @Test func `a task that is cancelled before its call sends nothing`() async throws {
    let (methods, tell) = AsyncStream<String>.makeStream()
    let client = try ScriptedBroker.client { wire in
      while let request = wire.read() {
        tell.yield(ScriptedBroker.method(request))
        wire.answer(request, ScriptedBroker.session)
      }
    }
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.accessToken()
    }
    await #expect(throws: ClientError.cancelled) { try await call.value }
    _ = try await client.session()
    for await method in methods {
      #expect(method == "getSession")
      break
    }
  }

  @Test func `the end of the connection fails every call that waits and every later one`() async throws {
    let client = try ScriptedBroker.client { wire in
      _ = wire.read()
      _ = wire.read()
    }
    let first = Task { try await client.accessToken() }
    let second = Task { try await client.session() }
    await #expect(throws: ClientError.connectionLost) { try await first.value }
    await #expect(throws: ClientError.connectionLost) { try await second.value }
    await #expect(throws: ClientError.connectionLost) { try await client.status() }
  }

  @Test func `a call that is not answered ends with its time limit, and the broker is told`() async throws {
    let (notices, tell) = AsyncStream<String>.makeStream()
    let broker = try ScriptedBroker { wire in
      _ = wire.read()
      // Events do not keep it.
      for sequence in 1...100 { wire.write(ScriptedBroker.event(sequence)) }
      tell.yield(ScriptedBroker.method(wire.read()))
      while wire.read() != nil {}
    }
    let channel = try ClientChannel(socket: try broker.socket.duplicate())
    let reader = Threads.start { channel.run() }
    let (answers, answer) = AsyncStream<ClientError>.makeStream()
    channel.send(channel.nextID(), Ping.name, Empty(), within: .milliseconds(20)) { reply in
      if case .refusal(let error) = reply { answer.yield(error) }
    }
    for await error in answers {
      #expect(error == .timedOut)
      break
    }
    for await notice in notices {
      #expect(notice == "$/cancelRequest")
      break
    }
    channel.close()
    Threads.join(reader)
  }

  @Test func `a connection that takes no more calls ends behind its last answer`() async throws {
    let broker = try ScriptedBroker { wire in
      wire.answer(wire.read(), "{}")
      while wire.read() != nil {}
    }
    let channel = try ClientChannel(socket: try broker.socket.duplicate())
    let (answers, answer) = AsyncStream<Bool>.makeStream()
    channel.send(channel.nextID(), Ping.name, Empty()) { reply in
      if case .result = reply { answer.yield(true) }
    }
    channel.retire()
    #expect(!channel.isOpen)
    channel.send(channel.nextID(), Ping.name, Empty()) { reply in
      if case .unsent(.connectionLost) = reply { answer.yield(false) }
    }
    // Ends by itself.
    Threads.join(Threads.start { channel.run() })
    var seen: [Bool] = []
    for await one in answers {
      seen.append(one)
      if seen.count == 2 { break }
    }
    #expect(seen == [false, true])
  }

  @Test func `a broker that is about to end is asked again, within bounds`() async {
    let refusal = CallFailure.failed(.broker(BrokerError(.shuttingDown)))
    var brief = Repetition(of: GetStatus.name, within: .milliseconds(350))
    var tries = 0
    while await brief.follows(refusal) { tries += 1 }
    // 100 ms and 200 ms are within the time, 400 ms more are not.
    #expect((1...2).contains(tries))
    var lost = Repetition(of: GetStatus.name)
    var seen: [Bool] = []
    for failure in [refusal, .failed(.connectionLost), refusal, .failed(.connectionLost)] {
      seen.append(await lost.follows(failure))
    }
    #expect(seen == [true, true, true, false])
    var login = Repetition(of: Login.name)
    #expect(await !login.follows(refusal))
  }

  @Test(arguments: [
    (CallFailure.failed(.connectionLost), GetAccessToken.name, true), (.failed(.connectionLost), Login.name, false),
    (.unsent(.connectionLost), Login.name, true), (.failed(.broker(BrokerError(.shuttingDown))), Lock.name, true),
    (.failed(.broker(BrokerError(.shuttingDown))), Logout.name, false), (.failed(.timedOut), Ping.name, false),
    (.failed(.noBroker(reason: "")), Ping.name, false), (.failed(.broker(BrokerError(.overloaded))), Ping.name, false),
  ])
  func `a call is made once more only where that does no harm`(
    _ failure: CallFailure, _ method: String, _ isRepeated: Bool
  ) {
    #expect(failure.isRepeated(method) == isRepeated)
  }

  @Test func `the broker's end of a time limit is the library's own`() async throws {
    let client = try ScriptedBroker.client { wire in
      wire.refuse(wire.read(), 1087, #"{"kind":"deadlineExceeded"}"#)
      while wire.read() != nil {}
    }
    await #expect(throws: ClientError.timedOut) { try await client.accessToken() }
  }

  @Test func `closing the client ends its connection`() async throws {
    let (ended, end) = AsyncStream<Void>.makeStream()
    let client = try ScriptedBroker.client { wire in
      while wire.read() != nil {}
      end.yield()
    }
    await client.close()
    await #expect(throws: ClientError.connectionLost) { try await client.session() }
    await client.close()
    // The socket itself goes with the client.
    _ = consume client
    for await _ in ended { break }
  }
}
