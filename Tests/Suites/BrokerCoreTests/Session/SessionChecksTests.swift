import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// The sessions that are examined for a caller, as a value.
@Suite(.standardTimeLimit) struct SessionChecksTests {
  private static func slot(_ number: UInt64) -> SlotID { SlotID(profile: .default, number: number) }

  @Test func `the examination lasts until the last session, and keeps the first failure`() {
    var checks = SessionChecks(of: (1...3).map(Self.slot), askedFor: .default)
    checks.close(Self.slot(2), nil)
    #expect(checks.failure == nil && checks.open.count == 2)
    checks.close(Self.slot(3), .superseded)
    checks.close(Self.slot(1), .locked)
    #expect(checks.open.isEmpty && checks.failure == .superseded && checks.profile == .default)
  }

  @Test func `a session that was examined already, or is none of them, changes nothing`() {
    var checks = SessionChecks(of: [Self.slot(1), Self.slot(2)], askedFor: .default)
    checks.close(Self.slot(1), nil)
    let before = checks
    checks.close(Self.slot(1), nil)
    checks.close(Self.slot(9), nil)
    #expect(checks == before && checks.open == [Self.slot(2)])
  }
}
