import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Examinations of sessions, as a value.
@Suite(.standardTimeLimit) struct SessionChecksTests {
  private static let caller = Caller<Empty>(CallerID(1))

  private static func check(_ id: UInt64, _ name: ProfileName) -> SessionCheck {
    SessionCheck(id: id, slot: SlotID(profile: name, number: 0), reason: .passwordReset)
  }

  @Test func `the caller is answered after the last session, with the first failure`() throws {
    let (one, two) = (try #require(ProfileName("one")), try #require(ProfileName("two")))
    var checks = SessionChecks()
    let id = checks.begin([one, two, .default], for: Self.caller, of: one)
    #expect(checks.close(Self.check(id, two), .superseded) == nil)
    #expect(checks.close(Self.check(id, .default), .locked) == nil)
    let last = checks.close(Self.check(id, one), nil)
    let examination = try #require(last)
    #expect(examination.caller == Self.caller && examination.profile == one)
    #expect(examination.failure == .superseded)
  }

  @Test func `an examination ends once, and a session that was examined already changes nothing`() throws {
    let other = try #require(ProfileName("other"))
    var checks = SessionChecks()
    let id = checks.begin([.default, other], for: Self.caller, of: .default)
    #expect(checks.close(Self.check(id, other), nil) == nil && checks.close(Self.check(id, other), nil) == nil)
    #expect(checks.close(Self.check(id, .default), nil) != nil)
    #expect(checks.close(Self.check(id, .default), nil) == nil)
  }
}
