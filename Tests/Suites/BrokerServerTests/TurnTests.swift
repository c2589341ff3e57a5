import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import Logging
import Synchronization
import TestSupport
import Testing
import Transport

/// Who is read when: a client that has much to say does not keep the others waiting.
@Suite(.standardTimeLimit) struct TurnTests {
  private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n"
  private static let answer = #"{"jsonrpc":"2.0","id":1,"result":{}}"#

  /// A batch of so many pings, as a line.
  private static func batch(_ count: Int) -> [UInt8] {
    let requests = (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }
    return Array(("[" + requests.joined(separator: ",") + "]\n").utf8)
  }

  /// Its answer.
  private static func answers(_ count: Int) -> String {
    "[" + (1...count).map { #"{"jsonrpc":"2.0","id":\#($0),"result":{}}"# }.joined(separator: ",") + "]"
  }

  private static func count(_ client: TestClient) -> Int { client.received.count { $0 == 10 } }

  @Test func `messages of one connection in a turn are counted, and the others come between`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 10
      // Only the count matters here, however slow the machine is.
      limits[.turn] = 1000
      let harness = try ServerHarness(limits: limits)
      let (busy, quiet) = (try harness.connect(), try harness.connect())
      harness.settle()
      #expect(busy.push(Array(String(repeating: Self.ping, count: 500).utf8)) == 500 * Self.ping.utf8.count)
      #expect(quiet.push(Array(Self.ping.utf8)) == Self.ping.utf8.count)
      var (seen, turns) = (0, 0)
      while seen < 500 {
        try harness.loop.runOnce()
        turns += 1
        busy.pull()
        quiet.pull()
        let now = Self.count(busy)
        // One turn with the events, one with the queue.
        #expect(now - seen <= 20, "turn \(turns)")
        if turns == 1 { #expect(Self.count(quiet) == 1) }
        seen = now
        guard turns < 1000 else { break }
      }
      #expect(seen == 500 && turns >= 25)
      #expect(busy.lines() == Array(repeating: Self.answer, count: 500))
    }
  }

  @Test func `bytes of one connection in a turn are counted`() async throws {
    try await OwnThread.run {
      var limits = ServerHarness.patientLimits
      limits[.turnBytes] = 4096
      // Neither the count nor the clock ends a turn.
      (limits[.turnMessages], limits[.turn]) = (65536, 1000)
      let harness = try ServerHarness(limits: limits)
      let busy = try harness.connect()
      harness.settle()
      let (length, count) = (Self.ping.utf8.count, 500)
      #expect(busy.push(Array(String(repeating: Self.ping, count: count).utf8)) == count * length)
      var (seen, turns) = (0, 0)
      while seen < count, turns < 1000 {
        try harness.loop.runOnce()
        turns += 1
        busy.pull()
        let now = Self.count(busy)
        // One turn with the events, one with the queue, and a message that was begun in the turn before.
        #expect((now - seen) * length <= 2 * 4096 + length, "turn \(turns)")
        seen = now
      }
      #expect(seen == count)
    }
  }

  @Test func `a quiet client is answered between the pieces of thirty long messages`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let quiet = try harness.connect()
      let text = String(repeating: "x", count: 60_000)
      let params = (0..<15).map { "\"name\($0)\":\"\(text)\"" }.joined(separator: ",")
      let message = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{\#(params)}}"# + "\n").utf8)
      let busy = try (0..<30).map { _ in try harness.connect() }
      harness.settle()
      var sent = Array(repeating: 0, count: busy.count)
      var (questions, answers, worst) = (0, 0, 0)
      while let behind = sent.min(), behind < message.count {
        for (index, client) in busy.enumerated() where sent[index] < message.count {
          sent[index] += client.push(Array(message[sent[index]...]))
        }
        questions += quiet.push(Array(Self.ping.utf8)) == Self.ping.utf8.count ? 1 : 0
        var turns = 0
        while answers < questions, turns < 100 {
          try harness.loop.runOnce()
          turns += 1
          quiet.pull()
          answers = Self.count(quiet)
        }
        worst = max(worst, turns)
      }
      #expect(questions > 3 && answers == questions && worst == 1, "\(questions) questions, at worst \(worst) turns")
      harness.settle()
      for client in busy { #expect(client.lines() == [Self.answer]) }
    }
  }

  @Test func `a batch is divided like other messages, and answered as one`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 5
      let harness = try ServerHarness(limits: limits)
      let (busy, quiet) = (try harness.connect(), try harness.connect())
      harness.settle()
      let batch = Self.batch(64)
      for _ in 0..<3 { #expect(busy.push(batch) == batch.count) }
      var (questions, answers, worst) = (0, 0, 0)
      while Self.count(busy) < 3, questions < 1000 {
        questions += quiet.push(Array(Self.ping.utf8)) == Self.ping.utf8.count ? 1 : 0
        var turns = 0
        while answers < questions, turns < 100 {
          try harness.loop.runOnce()
          turns += 1
          quiet.pull()
          answers = Self.count(quiet)
        }
        worst = max(worst, turns)
        busy.pull()
      }
      #expect(questions > 10 && worst == 1, "\(questions) questions, at worst \(worst) turns")
      #expect(busy.lines() == Array(repeating: Self.answers(64), count: 3))
    }
  }

  @Test(arguments: [false, true])
  func `a batch that was begun is answered to its end when the broker drains, or the stream ends`(
    _ drains: Bool
  ) async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 2
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      harness.settle()
      let batch = Self.batch(20)
      #expect(client.push(batch) == batch.count)
      try harness.loop.runOnce()
      if drains { harness.server.assumeIsolated { $0.drain() } } else { client.finishSending() }
      harness.settle()
      let answer = client.lines().first { $0.hasPrefix("[") } ?? ""
      #expect((1...20).allSatisfy { answer.contains(#""id":\#($0),"#) }, "\(answer)")
      #expect(answer.contains("shuttingDown") == drains, "\(answer)")
      #expect(client.hasEnded)
    }
  }

  @Test func `what is no request is refused in its batch, also where the batch is divided`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 1
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      harness.settle()
      #expect(client.push(Array((#"[{"jsonrpc":"2.0","id":1,"method":"ping"},"x","",1,[],"{}"]"# + "\n").utf8)) > 0)
      let answers = client.lines()
      #expect(answers.count == 1 && answers.first?.hasPrefix("[") == true, "\(answers)")
      let elements = try JSONDocument(parsing: Array((answers.first ?? "[]").utf8)).root.elements()
      let refusals = elements.filter { String(decoding: $0.text, as: UTF8.self).contains(#""kind":"invalidRequest""#) }
      #expect(elements.count == 6 && refusals.count == 5, "\(answers)")
    }
  }

  @Test func `a batch that was begun is answered although the limits have become narrower`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 2
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      harness.settle()
      let batch = Self.batch(20)
      #expect(client.push(batch) == batch.count)
      try harness.loop.runOnce()
      limits[.batchEntries] = 5
      harness.server.assumeIsolated { [limits] in $0.setLimits(limits) }
      #expect(client.lines() == [Self.answers(20)])
      // The next batch is one of its own.
      client.send(Self.batch(3))
      #expect(client.lines() == [Self.answers(3)])
    }
  }

  @Test func `what was said before the end of the stream is still answered, in turns`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.turnMessages] = 3
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      #expect(client.push(Array(String(repeating: Self.ping, count: 100).utf8)) == 100 * Self.ping.utf8.count)
      client.finishSending()
      harness.settle()
      #expect(client.lines().count == 100)
      #expect(client.hasEnded)
    }
  }

  @Test func `the document of the methods is rendered once`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(document: Array(#"{"openrpc":"1.3.2"}"#.utf8))
      let client = try harness.connect()
      for _ in 0..<5 {
        let answers = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#)
        #expect(answers == [#"{"jsonrpc":"2.0","id":1,"result":{"openrpc":"1.3.2"}}"#])
      }
      #expect(harness.renderings.value == 1)
    }
  }

  @Test func `an ignored name is cut by bytes, whatever its letters are made of`() async throws {
    try await OwnThread.run {
      let lines = Mutex<[[UInt8]]>([])
      let log = Logger(level: .info) { line in lines.withLock { $0.append(line) } }
      let client = try ServerHarness(log: log).connect()
      let name = "e" + String(repeating: "\u{301}", count: 20_000)
      _ = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\#(name)":1}}"#)
      let told = lines.withLock { $0 }.filter { String(decoding: $0, as: UTF8.self).contains("ignored a parameter") }
      #expect(told.count == 1 && (told.first?.count ?? 0) < 250, "\(told.first?.count ?? 0) bytes")
    }
  }

  @Test(arguments: [
    ("getAccessToken", -32601), ("verifyOtp", -32602), ("subscribe", -32602), ("login", -32602),
  ])
  func `a name made of combining marks is no name`(_ method: String, _ code: Int) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let name = "e" + String(repeating: "\u{301}", count: 30_000)
      let text =
        switch method {
        case "verifyOtp": #"{"jsonrpc":"2.0","id":1,"method":"verifyOtp","params":{"otpFlowId":"\#(name)","code":"1"}}"#
        case "subscribe": #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"events":["\#(name)"]}}"#
        case "login": #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"method":"\#(name)"}}"#
        default: #"{"jsonrpc":"2.0","id":1,"method":"\#(name)"}"#
        }
      #expect(client.ask(text).first?.contains(#""code":\#(code),"#) == true)
    }
  }
}
