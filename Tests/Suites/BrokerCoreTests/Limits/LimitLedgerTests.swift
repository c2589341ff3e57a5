import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What the ledger allows, refuses and counts.
@Suite(.standardTimeLimit) struct LimitLedgerTests {
  @Test func `an amount is allowed to the limit, and refused and counted beyond`() throws {
    let ledger = LimitLedger()
    for amount in [0, 31, 32] { try ledger.require(.subscriptions, amount) }
    #expect(ledger.refused(.subscriptions) == 0)
    let error = #expect(throws: BrokerError.self) { try ledger.require(.subscriptions, 33) }
    #expect(error?.kind == .overloaded)
    #expect(error?.message == "The limit maxSubscriptionsPerConnection (32) is exceeded.")
    #expect(ledger.refused(.subscriptions) == 1)
  }

  @Test func `what is in use already is added, and said to be too much`() {
    let ledger = LimitLedger()
    ledger.limits[.connections] = 2
    #expect(!ledger.add(.connections, 2) && ledger.add(.connections, 1) && !ledger.add(.connections, -1))
    #expect(ledger.used(.connections) == 2 && ledger.refused(.connections) == 0)
  }

  @Test func `a limit's error is of the kind that its row says`() {
    let ledger = LimitLedger()
    for row in Limit.rows {
      guard let kind = row.error else { continue }
      #expect(ledger.error(of: row.limit).kind == kind && ledger.refused(row.limit) == 0)
    }
  }

  @Test func `the report has every limit, and what is in use of those over all`() throws {
    let ledger = LimitLedger()
    ledger.limits[.stalledOutput] = 1500
    ledger.note(.stalledOutput)
    #expect(!ledger.add(.connections, 3))
    let report = ledger.report
    #expect(report.map(\.name) == Limit.rows.map(\.name))
    let stalled = try #require(report.first { $0.name == "stalledOutputSeconds" })
    #expect(stalled == GetStatus.Limit(name: "stalledOutputSeconds", scope: "connection", value: 1.5, refused: 1))
    let connections = try #require(report.first { $0.name == "maxConnections" })
    #expect(connections.used == 3 && connections.refused == 0 && connections.scope == "broker")
  }

  @Test func `a changed limit holds from then on`() throws {
    let ledger = LimitLedger()
    var limits = ledger.limits
    limits[.subscriptions] = 1
    ledger.limits = limits
    try ledger.require(.subscriptions, 1)
    #expect(throws: BrokerError.self) { try ledger.require(.subscriptions, 2) }
  }
}
