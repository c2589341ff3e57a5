import BrokerCore
import BrokerProtocol
import JSONRPC
import LinuxSystem
import TestSupport
import Testing
import Transport

@testable import BrokerServer

/// Requests for cached tokens that are answered together: the same answers, in the same order, as one by one.
@Suite(.standardTimeLimit) struct TokenAnswersTests {
  private static let login =
    #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"email":"a@example.test","password":"right"}}"#
  private static let token = #"{"jsonrpc":"2.0","id":0,"method":"getAccessToken"}"#

  /// A client that takes so many bytes and no more; what is left can be looked at.
  private final class FullStream: ClientStream {
    private var room: Int
    private(set) var taken: [UInt8] = []

    init(room: Int = 0) { self.room = room }

    func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult { .wouldBlock }

    func write(_ bytes: Span<UInt8>) -> IOResult {
      guard room > 0 else { return .wouldBlock }
      let count = min(room, bytes.count)
      for index in 0..<count { taken.append(bytes[index]) }
      room -= count
      return .bytes(count)
    }

    func attach(to loop: EventLoop, _ connection: Connection) throws(Errno) {}
    func setInterest(reading: Bool, writing: Bool, on loop: EventLoop) {}
    func close(on loop: EventLoop) {}
  }

  /// A broker that has a token in its cache, and the time there.
  private struct Stage {
    let harness: ServerHarness
    let limits: Limits
    let time: TurnClock.Time

    init(limits: Limits = ServerHarness.patientLimits) throws {
      harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(TokenAnswersTests.login)
      #expect(client.ask(TokenAnswersTests.token).first?.contains("access-1") == true)
      self.limits = limits
      let now = harness.broker.now
      time = (now.wall.milliseconds, now.uptime.milliseconds)
    }

    /// What answers from that cache.
    func answers() -> TokenAnswers { TokenAnswers(from: harness.broker.answers, limits) }

    /// What is answered to bytes, and how many of them that is.
    func ask(
      _ bytes: [UInt8], _ answers: inout TokenAnswers, _ client: FullStream = FullStream(), _ framing: Framing = .lines
    ) -> (turn: TokenAnswers.Turn, said: [UInt8]) {
      let turn = answers.answer(
        bytes.span, FrameReader(framing: framing), for: .all, most: 64, behind: 0, at: time)
      _ = answers.send(to: client)
      var said: [UInt8] = []
      answers.withWaiting { waiting in for index in waiting.indices { said.append(waiting[index]) } }
      answers.clear()
      return (turn, said)
    }
  }

  @Test func `a client that takes a part of the answers is owed the rest, and nothing twice`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let lines = (0..<50).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"getAccessToken"}"# + "\n" }
      let bytes = Array(lines.joined().utf8)
      var answers = stage.answers()
      let all = stage.ask(bytes, &answers).said
      #expect(all.count { $0 == 10 } == 50)
      for room in [1, 2, 4096 % all.count, all.count - 1, all.count, all.count + 1] {
        let client = FullStream(room: room)
        let (turn, rest) = stage.ask(bytes, &answers, client)
        #expect(
          rest.isEmpty == (room >= all.count) && turn.messages == 50 && client.taken.count == min(room, all.count))
        #expect(client.taken + rest == all, "\(room)")
      }
    }
  }

  @Test func `what waits for a client already counts: past the limit of its output nothing more is answered`()
    async throws
  {
    try await OwnThread.run {
      let stage = try Stage()
      var answers = stage.answers()
      let limit = stage.limits[.outputBytes]
      for (waiting, count) in [(limit, 1), (limit + 1, 0)] {
        let turn = answers.answer(
          Array("\(Self.token)\n".utf8).span, FrameReader(framing: .lines), for: .all, most: 64, behind: waiting,
          at: stage.time)
        #expect(turn.messages == count)
        answers.clear()
      }
    }
  }

  @Test func `what is like a question of before is held to the limits of now`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      var answers = stage.answers()
      var limits = stage.limits
      let line = Array((Self.token.replacing(#""id":0"#, with: #""id":100"#) + "\n").utf8)
      for (idBytes, count) in [(3, 1), (2, 0), (3, 1)] {
        limits[.idBytes] = idBytes
        answers.setLimits(limits)
        #expect(stage.ask(line, &answers).turn.messages == count)
      }
    }
  }

  private static let models = [
    token, #"{"jsonrpc":"2.0","id":41,"method":"getAccessToken","params":{"profile":"default"}}"#,
    #"{"method":"getAccessToken","params":{"minValiditySeconds":30,"profile":"default"},"jsonrpc":"2.0","id":9}"#,
    #" { "id" : 100 , "jsonrpc":"2.0","method":"getAccessToken","params":{}}"# + "\r",
    #"{"id":7,"params":{"profile":"default"},"jsonrpc":"2.0","method":"getAccessToken"}"#,
  ].map { Array($0.utf8) + [10] }

  private static let spice = [
    "0", "00", "1", "-", ".5", "e1", "1e400", "99999999999999999999", "123456789012345678", "\"", "\"a\"", "null", " ",
    "\t", "\n", "\r", "}", "{", ",", ":", "\\u0031", "é", "\u{0}", #""id":1,"#,
  ].map { Array($0.utf8) }

  private static func mutant(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes = models[Int.random(in: 0..<models.count, using: &random)]
    for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
      // Most changes are where the id is.
      let digit = bytes.firstIndex { (0x30...0x39).contains($0) && $0 != 0x32 } ?? 0
      let isAtID = Int.random(in: 0..<3, using: &random) > 0
      let place = isAtID ? min(digit, bytes.count - 1) : Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(UInt8.random(in: 0x30...0x39, using: &random), at: place)
      default: bytes.insert(contentsOf: spice[Int.random(in: 0..<spice.count, using: &random)], at: place)
      }
    }
    return bytes
  }

  @Test func `a line that is like the one before it gets the answer that the scanner leads to`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      var random = SeededGenerator(seed: 0x70CE)
      var answered = 0
      for round in 0..<20000 {
        let (model, line) = (Self.models[round % Self.models.count], Self.mutant(&random))
        var seasoned = stage.answers()
        var fresh = stage.answers()
        let first = stage.ask(model, &seasoned)
        #expect(first.turn.messages == 1 && first.turn.bytes == model.count)
        let (once, alone) = (stage.ask(line, &seasoned), stage.ask(line, &fresh))
        #expect(
          once.turn.messages == alone.turn.messages && once.turn.bytes == alone.turn.bytes && once.said == alone.said)
        // Behind the model in one read the answer is taken from the one before.
        let both = stage.ask(model + line, &seasoned)
        #expect(both.turn.messages == 1 + alone.turn.messages && both.turn.bytes == model.count + alone.turn.bytes)
        #expect(both.said == first.said + alone.said, "\(String(decoding: line, as: UTF8.self))")
        answered += alone.turn.messages
        guard both.said == first.said + alone.said else { break }
      }
      #expect(answered > 4000 && answered < 18000, "\(answered)")
    }
  }

  @Test func `messages with a header are answered as lines are, each answer with a header of its own`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let framed = { (text: [UInt8]) in Array("Content-Length: \(text.count)\r\n\r\n".utf8) + text }
      let questions = [1, 2, 9, 10, 11, 2].map {
        Array(#"{"jsonrpc":"2.0","id":\#($0),"method":"getAccessToken"}"#.utf8)
      }
      var lines = stage.answers()
      var headers = stage.answers()
      let said = stage.ask(questions.flatMap { $0 + [10] }, &lines).said.split(separator: 10)
      let (turn, framedSaid) = stage.ask(questions.flatMap(framed), &headers, FullStream(), .headers)
      #expect(turn.messages == questions.count && said.count == questions.count)
      #expect(framedSaid == said.flatMap { framed(Array($0)) })
      // Half a message, and one that is no such question, end what is answered.
      let half = framed(questions[0]) + framed(questions[1]).dropLast()
      #expect(stage.ask(half, &headers, FullStream(), .headers).turn.messages == 1)
      let other = framed(questions[0]) + framed(Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
      #expect(stage.ask(other, &headers, FullStream(), .headers).turn.messages == 1)
    }
  }

  @Test(arguments: [Framing.lines, .headers])
  func `a conversation of tokens and others is answered in order in either framing`(_ framing: Framing) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let frame = { (text: String) in
        framing == .lines ? text + "\n" : "Content-Length: \(text.utf8.count)\r\n\r\n" + text
      }
      client.send(frame(Self.login))
      _ = client.read()
      let methods = (0..<200).map { $0 % 5 == 2 ? "ping" : "getAccessToken" }
      let text = methods.enumerated().map { frame(#"{"jsonrpc":"2.0","id":\#($0),"method":"\#($1)"}"#) }.joined()
      // In pieces that end anywhere.
      let (bytes, before) = (Array(text.utf8), client.received.count)
      for start in stride(from: 0, to: bytes.count, by: 777) {
        client.send(Array(bytes[start..<min(start + 777, bytes.count)]))
      }
      _ = client.read()
      let expected = methods.enumerated().map { id, method in
        let result = method == "ping" ? "{}}" : #"{"accessToken":"access-1""#
        return #"{"jsonrpc":"2.0","id":\#(id),"result":"# + result
      }
      var rest = String(decoding: client.received[before...], as: UTF8.self)[...]
      for text in expected {
        guard let place = rest.firstRange(of: text) else {
          Issue.record("\(text)")
          break
        }
        rest = rest[place.upperBound...]
      }
    }
  }

  @Test func `what is like the line before it keeps to the bounds of its own`() async throws {
    try await OwnThread.run {
      var limits = ServerHarness.patientLimits
      limits[.idBytes] = 16
      let stage = try Stage(limits: limits)
      let line = { (id: String) in Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"getAccessToken"}"#.utf8) + [10] }
      for (id, isAnswered) in [("1234567890123456", true), ("12345678901234567", false), ("01", false), ("0", true)] {
        var answers = stage.answers()
        _ = stage.ask(line("1"), &answers)
        #expect((stage.ask(line(id), &answers).turn.messages == 1) == isAnswered, "\(id)")
      }
    }
  }

  @Test func `requests that come together are answered in order, whatever stands between them`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login)
      let ids = (0..<300).map { $0 % 7 == 3 ? "\"id \($0)\"" : String($0 * $0 * $0) }
      let methods = (0..<300).map { $0 % 11 == 5 ? "ping" : "getAccessToken" }
      let requests = zip(ids, methods).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"\#($1)"}"# + "\n" }
      client.send(requests.joined())
      let lines = client.lines()
      #expect(lines.count == 300)
      for (index, line) in lines.enumerated() {
        let result = methods[index] == "ping" ? "{}}" : #"{"accessToken":"access-1""#
        #expect(line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(ids[index]),"result":"# + result), "\(line)")
      }
    }
  }

  @Test func `a client that asks for many tokens and reads nothing holds a bounded amount, and gets all in order`()
    async throws
  {
    try await OwnThread.run {
      var limits = ServerHarness.patientLimits
      limits[.outputBytes] = 1 << 14
      let harness = try ServerHarness(limits: limits)
      let client = try harness.connect()
      _ = client.ask(Self.login)
      let requests = (0..<4000).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"getAccessToken"}"# + "\n" }
      let bytes = Array(requests.joined().utf8)
      var sent = 0
      for _ in 0..<100 {
        sent += client.push(Array(bytes[sent...]))
        harness.settle()
        #expect(harness.server.assumeIsolated { $0.queuedBytes } < 1 << 17)
      }
      var lines: [String] = []
      while lines.count < 4000 {
        if sent < bytes.count { sent += client.push(Array(bytes[sent...])) }
        let more = client.lines()
        guard !more.isEmpty || sent < bytes.count else { break }
        lines += more
      }
      #expect(lines.count == 4000)
      for (id, line) in lines.enumerated() where !line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result":{"acc"#) {
        Issue.record("\(id): \(line)")
        break
      }
    }
  }
}
