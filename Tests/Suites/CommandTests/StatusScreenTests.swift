import BrokerProtocol
import JSON
import TestSupport
import Testing

@testable import authbroker

/// The picture of `status --watch`, its keys, and the order of its questions.
@Suite(.standardTimeLimit) struct StatusScreenTests {
  private static let now = Timestamp(milliseconds: 1_767_225_600_000)

  private static func screen(_ profiles: String, logins: [PendingLoginStep] = []) throws -> StatusScreen {
    let text = FakeOwner.status(profiles: profiles).dropFirst(#""result":"#.count)
    let status = try GetStatus.Result(from: try JSONDocument(parsing: Array(text.utf8)).root)
    return StatusScreen(status: status, answeredAt: now, logins: logins)
  }

  private static func session(_ profile: String, _ members: String) -> String {
    #"{"profile":"\#(profile)","provider":"oidc","scopes":[],"refreshTokenPresent":true,\#(members)}"#
  }

  private static let sessions = [
    session(
      "work",
      #""state":"authenticated","accessTokenExpiresAt":"2026-01-01T00:14:59Z","lastRefreshAt":"2025-12-31T23:59:59Z""#),
    session("home", #""state":"expired","loginRequiredReason":"refreshRejected""#),
    session("shop", #""state":"offline","accessTokenExpiresAt":"2025-12-31T00:00:00Z""#),
  ].joined(separator: ",")

  @Test func `each profile has a line with its countdown and its last refresh`() throws {
    let action = UserAction(
      loginFlowID: "f", profile: .default, kind: .browser, verificationURI: "https://a.example/x",
      expiresAt: Timestamp(milliseconds: Self.now.milliseconds + 61_000))
    var screen = try Self.screen(Self.sessions, logins: [.action(action)])
    let lines = screen.lines(at: Self.now, columns: 80)
    let texts = lines.map(\.text)
    let table = [
      "PROFILE  STATE          EXPIRES IN  REFRESHED", "work     authenticated  14:59       0:01 ago",
      "home     expired        -           -", "shop     offline        expired     -",
    ]
    #expect(table.allSatisfy(texts.contains), "\(texts)")
    #expect(texts.contains("default: a login waits for its user to open https://a.example/x, 1:01 left"), "\(texts)")
    #expect(lines.first { $0.text.hasPrefix("home ") }?.mark == .warning)
    let work = "work"
    screen.profile = ProfileName(work)
    #expect(
      !screen.lines(at: Self.now, columns: 80).contains { $0.text.contains("home") || $0.text.contains("default") })
  }

  @Test(arguments: [80, 50, 30, 20])
  func `no line is wider than the terminal, and nothing is cut off`(_ columns: Int) throws {
    var screen = try Self.screen(Self.sessions)
    screen.trouble = "the broker was stopped; waiting for another one"
    let wide = screen.lines(at: Self.now, columns: 200).map(\.text).joined(separator: " ")
    let lines = screen.lines(at: Self.now, columns: columns).map(\.text)
    #expect(lines.allSatisfy { $0.count <= columns }, "\(lines.filter { $0.count > columns })")
    let text = lines.joined(separator: " ")
    for word in ["work", "authenticated", "14:59", "home", "shop", "offline", "waiting"] {
      #expect(text.contains(word) && wide.contains(word), "\(word): \(lines)")
    }
  }

  @Test(arguments: [
    (0, "0:00"), (9, "0:09"), (249, "4:09"), (3599, "59:59"), (3849, "1:04:09"), (86399, "23:59:59"),
    (183_600, "2 d 3 h"),
    (-5, "0:00"),
  ])
  func `a countdown is short`(_ seconds: Int, _ text: String) {
    #expect(Countdown.text(.seconds(seconds)) == text)
  }

  @Test func `a screen that is too small is scrolled, and says so`() {
    let lines = (1...10).map { ScreenLine(text: "\($0)") }
    var window = ScrollWindow()
    func shown(_ rows: Int = 5) -> [String] { window.picture(lines, rows: rows, columns: 60).map(\.text) }
    #expect(shown() == ["1", "2", "3", "4", "q quits; j and k scroll: lines 1 to 4 of 10"])
    for (keys, first) in [("j", 2), ("jj", 4), ("k", 3), ("\u{1B}[B", 4), ("\u{1B}OA", 3), ("\u{1B}[1;5A", 2)] {
      #expect(window.take(Array(keys.utf8), room: 4) == false)
      #expect(shown().first == "\(first)", "\(keys)")
    }
    for (keys, first) in [(" ", 6), ("jjjjjjjj", 7), ("b", 3), ("bbb", 1), ("kx\u{1B}", 1)] {
      #expect(window.take(Array(keys.utf8), room: 4) == false)
      #expect(shown().first == "\(first)", "\(keys)")
    }
    #expect(shown(20).suffix(2) == ["", "q quits"] && shown(20).count == 20)
    #expect(window.take(Array("jq".utf8), room: 4) && window.take([UInt8(ascii: "Q")], room: 4))
  }

  @Test func `events are subscribed to first, and a burst of them is one question`() {
    var questions = StatusQuestions()
    func take(_ seconds: Int) -> StatusQuestions.Question? { questions.take(at: .seconds(seconds)) }
    func handle(_ event: StatusQuestions.Event, _ seconds: Int) { questions.handle(event, at: .seconds(seconds)) }
    #expect(take(100) == nil)
    handle(.connected, 100)
    #expect(take(100) == .subscription && take(100) == nil && questions.pending == .subscription)
    handle(.answered, 101)
    #expect(take(101) == .status && take(101) == nil)
    handle(.answered, 101)
    #expect(take(101) == .logins)
    handle(.answered, 101)
    #expect(take(101) == nil && questions.wake == .seconds(111))
    // What no event tells is asked for now and then.
    for _ in 0..<100 { handle(.told, 101) }
    #expect(take(101) == nil && questions.wake == .seconds(102))
    #expect(take(102) == .status)
    handle(.told, 103)
    #expect(take(104) == nil)
    handle(.answered, 104)
    #expect(take(104) == .logins)
    handle(.answered, 104)
    #expect(take(104) == .status)
    handle(.lost, 104)
    #expect(take(200) == nil && questions.pending == nil && questions.wake == nil)
    handle(.connected, 200)
    #expect(take(200) == .subscription)
  }
}
