import BrokerProtocol
import JSON
import TestSupport
import Testing

@testable import BrokerCore

/// The table of limits, and the page of the guide that shows it.
@Suite(.standardTimeLimit) struct LimitTableTests {
  @Test func `every limit has one row, in the order of the cases`() {
    #expect(Limit.rows.map(\.limit) == Limit.allCases)
    #expect(Set(Limit.rows.map(\.name)).count == Limit.rows.count)
  }

  @Test(arguments: Limit.rows)
  func `a row says what it needs to say`(_ row: Limit.Row) {
    let factor = row.isTime ? 1000 : 1
    #expect(row.standard >= row.range.lowerBound * factor && row.standard <= row.range.upperBound * factor)
    #expect(
      (row.interval != nil)
        == CallLimiter.Call.allCases.contains { call in
          [call.limits.connection, call.limits.account, call.limits.provider].contains(row.limit)
        })
  }

  @Test func `without a configuration the defaults hold`() {
    let limits = Limits()
    for row in Limit.rows { #expect(limits[row.limit] == row.standard) }
    #expect(limits.duration(.stalledOutput) == .seconds(30))
    #expect(limits.idBytes == limits[.idBytes] && limits.json.byteCount == limits[.messageBytes])
  }

  @Test func `what is derived from a number follows it`() {
    var limits = Limits()
    (limits[.messageBytes], limits[.nesting], limits[.idBytes]) = (2000, 9, 50)
    #expect(limits.json.byteCount == 2000 && limits.json.depth == 9 && limits.idBytes == 50)
  }

  /// The beginning of a line of the guide's tables.
  private static func line(_ row: Limit.Row) -> String {
    let standard = row.isTime ? seconds(row.standard) : String(row.standard)
    let range = Limit.configurable.contains(row.limit) ? " \(row.range.lowerBound)–\(row.range.upperBound) |" : ""
    let error = row.error.map { " `\($0.rawValue)`" } ?? ""
    return "| `\(row.name)` | \(row.scope.rawValue) | \(standard) |\(range)\(error)"
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }

  @Test func `the guide shows the table as it is, first what can be configured`() throws {
    let bytes = try Repository.bytes("Sources/Command/authbroker/AuthBroker.docc/Guides/Limits.md")
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("| `") }
    let rows =
      Limit.rows.filter { Limit.configurable.contains($0.limit) }
      + Limit.rows.filter { !Limit.configurable.contains($0.limit) }
    #expect(lines.count == rows.count)
    for (line, row) in zip(lines, rows) { #expect(line.hasPrefix(Self.line(row)), "\(row.name)") }
  }

  /// What the guide calls fixed bounds, and the numbers of the code.
  private static let fixedBounds: [(String, [Int])] = [
    ("Refreshes of the session's token", [RefreshBudget.limit]),
    ("Refreshes for one other target", [RefreshBudget.limit]),
    ("Tokens kept for other targets", [OtherTokens.most]),
    ("Tokens for other targets that `reportRejected` recognises", [TokenNames.most]),
    ("Wrong codes", [LoginMachine.wrongCodeLimit]), ("Pending revocations", [RevocationQueue.limitPerProfile]),
    ("Events kept on disk", [EventRetention.count, EventRetention.byteCount]),
    ("Events of one kind", [EventRetention.share]), ("Events kept in memory", [SubscriptionHub.keptEvents]),
    ("Events told at once", [SubscriptionHub.pageCount]), ("Data of an event", [EventPayload.byteLimit]),
    ("Scopes of a request", [TokenTarget.mostScopes, TokenTarget.longestScope]),
    ("Audience of a request", [TokenTarget.longestAudience]), ("Scopes of a login", [ParameterLength.scopes]),
    ("E-mail address", [ParameterLength.email, ParameterLength.phoneNumber, ParameterLength.name]),
    ("Value of a change", [ParameterLength.change]), ("Client context", [ParameterLength.clientContext]),
    ("Address of a server", [ParameterLength.url]), ("Challenge of a server", [ParameterLength.challenge]),
    ("Path of a socket", [ParameterLength.path]), ("Nonce of a proof", [ParameterLength.nonce]),
    ("Targets of the configuration", [TargetMap.mostTargets]),
    ("Second factors", [1, LoginMachine.wrongCodeLimit]),
  ]

  @Test(arguments: fixedBounds)
  func `the guide names the fixed bounds of the code`(_ what: String, _ values: [Int]) throws {
    let bytes = try Repository.bytes("Sources/Command/authbroker/AuthBroker.docc/Guides/Limits.md")
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("| \(what)") }
    let most = try #require(line).split(separator: "|").dropFirst(2).first ?? ""
    let numbers = most.split { !$0.isNumber }.compactMap { Int($0) }
    #expect(Array(numbers.prefix(values.count)) == values, "\(most)")
  }
}
