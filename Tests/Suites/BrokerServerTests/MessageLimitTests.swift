import BrokerCore
import BrokerServer
import TestSupport
import Testing

/// Limits of messages and connections with another number than the default: each is met exactly, and counted.
@Suite(.standardTimeLimit) struct MessageLimitTests {
  private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

  private static func ping(id: Int) -> String {
    // The quotes count.
    #"{"jsonrpc":"2.0","id":"\#(String(repeating: "i", count: id - 2))","method":"ping"}"#
  }

  /// A request of so many levels: itself, its params, and lists.
  private static func ping(depth: Int) -> String {
    let lists = String(repeating: "[", count: depth - 2) + String(repeating: "]", count: depth - 2)
    return #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":\#(lists)}}"#
  }

  private static func batch(_ count: Int) -> String {
    "[" + Array(repeating: ping, count: count).joined(separator: ",") + "]"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let limit: Limit
    let value: Int
    let kind: String
    let message: @Sendable (Int) -> String
    var testDescription: String { limit.row.name }
  }

  private static let cases = [
    Case(limit: .idBytes, value: 40, kind: "invalidRequest", message: { ping(id: $0) }),
    Case(limit: .nesting, value: 8, kind: "parseError", message: { ping(depth: $0) }),
    Case(limit: .batchEntries, value: 3, kind: "invalidRequest", message: batch),
  ]

  private static func harness(_ limit: Limit, _ value: Int) throws -> ServerHarness {
    var limits = ServerHarness.patientLimits
    limits[limit] = value
    return try ServerHarness(limits: limits, profiles: ["default", "other"])
  }

  private static func isRefusal(_ line: String?, _ kind: String, _ limit: Limit, _ value: Int) -> Bool {
    guard let line else { return false }
    return line.contains("\"\(kind)\"") && line.contains("The limit \(limit.row.name) (\(value)) is exceeded.")
  }

  @Test(arguments: cases)
  func `a message is accepted to a configured limit, and refused and counted beyond`(_ sample: Case) async throws {
    try await OwnThread.run {
      let (limit, value) = (sample.limit, sample.value)
      let harness = try Self.harness(limit, value)
      let client = try harness.connect()
      for size in [value - 1, value] {
        let answer = client.ask(sample.message(size)).first ?? ""
        #expect(answer.contains("result") && !answer.contains("error"), "\(size): \(answer)")
      }
      let refused = client.ask(sample.message(value + 1)).first
      #expect(Self.isRefusal(refused, sample.kind, limit, value), "\(refused ?? "")")
      #expect(harness.broker.ledger.refused(limit) == 1)
      #expect(client.ask(Self.ping).first?.contains("result") == true)
    }
  }

  /// What is legal but for one limit of its structure, with a place for the members of the request.
  private static let excesses: [(Limit, String)] = [
    (.stringBytes, "\"" + String(repeating: "s", count: 730_000) + "\""),
    (.elements, "[" + Array(repeating: "1", count: 1025).joined(separator: ",") + "]"),
    (.members, "{" + (0...256).map { "\"m\($0)\":1" }.joined(separator: ",") + "}"),
    (.nesting, String(repeating: "[", count: 70) + String(repeating: "]", count: 70)),
    (.numberBytes, String(repeating: "1", count: 70)),
  ]

  @Test(arguments: excesses)
  func `a request beyond a limit of its structure is refused by its id`(_ limit: Limit, _ value: String) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let requests = [
        #"{"jsonrpc":"2.0","id":"mine","method":"ping","params":{"x":\#(value)}}"#,
        #"{"params":{"id":7,"x":\#(value)},"method":"ping","jsonrpc":"2.0", "id" : "mine" }"#,
      ]
      for request in requests {
        let answers = client.ask(request)
        #expect(answers.count == 1 && answers.first?.hasPrefix(#"{"jsonrpc":"2.0","id":"mine","error":"#) == true)
        #expect(answers.first?.contains("The limit \(limit.row.name) ") == true, "\(answers.map { $0.prefix(400) })")
      }
      #expect(client.ask(#"{"jsonrpc":"2.0","method":"ping","params":{"x":\#(value)}}"#).isEmpty, "a notification")
      let batch = client.ask(#"[\#(requests[0]),{"jsonrpc":"2.0","method":"ping"},\#(Self.ping)]"#).first ?? ""
      #expect(batch.hasPrefix(#"[{"jsonrpc":"2.0","id":"mine","error":"#), "\(batch.prefix(200))")
      #expect(batch.contains(#"},{"jsonrpc":"2.0","id":1,"error":"#) && batch.hasSuffix("}]"))
      #expect(client.ask(Self.ping).first?.contains("result") == true)
    }
  }

  @Test(arguments: [(Limit.subscriptions, #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)])
  func `where a connection may have two the third is refused and counted`(_ limit: Limit, _ line: String) async throws {
    try await OwnThread.run {
      let harness = try Self.harness(limit, 2)
      let client = try harness.connect()
      for _ in 0..<2 { #expect(client.ask(line).first?.contains("error") != true) }
      let refused = client.ask(line).first
      #expect(Self.isRefusal(refused, "overloaded", limit, 2), "\(refused ?? "")")
      #expect(harness.broker.ledger.refused(limit) == 1)
      #expect(try harness.connect().ask(line).first?.contains("error") != true)
    }
  }
}
