import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// Times as people read them.
@Suite(.standardTimeLimit) struct LocalTimeTests {
  private let scratch = Scratch()
  private static let now = Timestamp(milliseconds: 1_767_225_600_000)

  @Test(arguments: [
    (1.0, "in 1 second"), (42, "in 42 seconds"), (89.4, "in 89 seconds"), (90, "in 2 minutes"), (299, "in 5 minutes"),
    (300, "in 5 minutes"), (3600, "in 60 minutes"), (5400, "in 2 hours"), (86400, "in 24 hours"),
  ])
  func `a near moment is told by its distance and by the clock`(seconds: Double, text: String) {
    let moment = Self.now + .seconds(seconds)
    let told = LocalTime.relative(moment, now: Self.now)
    #expect(told == "\(text) (\(LocalTime.clock(moment, now: Self.now)))")
  }

  @Test func `a far moment has its day, and one that is over no distance`() {
    #expect(LocalTime.relative(Self.now + .seconds(90_000), now: Self.now).hasPrefix("on 2026-01-0"))
    #expect(!LocalTime.relative(Self.now + .seconds(-1), now: Self.now).contains("in "))
    #expect(LocalTime.full(Self.now).utf8.count == 19)
  }

  private static let session =
    #"{"profile":"default","provider":"oidc","state":"authenticated","scopes":[],"refreshTokenPresent":true,"#
    + #""accessTokenExpiresAt":"2099-06-01T12:00:00Z"}"#

  @Test func `people see their own zone's time, and programs see UTC`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: Self.session)
      case "listPendingLogins": #""result":{"logins":[]}"#
      default: #""result":{}"#
      }
    }
    try withExtendedLifetime(owner) {
      let zone = ["TZ": "XYZ-05:30"]
      let people = try CommandRun(["status"], in: scratch, environment: zone)
      #expect(people.output.contains("on 2099-06-01 17:30") && !people.output.contains("Z\n"), "\(people.output)")
      let programs = try CommandRun(["status", "--json"], in: scratch, environment: zone)
      #expect(programs.output.contains("2099-06-01T12:00:00Z"))
    }
  }
}
