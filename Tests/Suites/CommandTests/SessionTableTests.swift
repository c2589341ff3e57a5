import BrokerProtocol
import JSON
import TestSupport
import Testing

@testable import authbroker

/// What `status`, `sessions` and `profiles` show of sessions.
@Suite(.standardTimeLimit) struct SessionTableTests {
  private let scratch = Scratch()

  private static func session(_ profile: String, _ state: String) -> String {
    #"{"profile":"\#(profile)","provider":"oidc","state":"\#(state)","scopes":[],"refreshTokenPresent":false,"new":1}"#
  }

  private static let sessions =
    session("home", "signedOut") + "," + session("work", "challengePending")

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: Self.sessions)
      case "listPendingLogins": #""result":{"logins":[]}"#
      default: #""result":{"sessions":[\#(Self.sessions)]}"#
      }
    }
  }

  @Test(arguments: [("status", "  "), ("sessions", "     ")])
  func `states are words for people, and names in JSON`(command: String, gap: String) throws {
    let owner = try owner()
    let run = try CommandRun([command], in: scratch)
    #expect(run.code == 0 && run.output.contains("\nhome\(gap)signed out"), "\(run.output)")
    #expect(run.output.contains("\nwork\(gap)login pending"))
    #expect(!run.output.contains("signedOut") && !run.output.contains("challengePending"), "\(run.output)")
    let json = try CommandRun([command, "--json"], in: scratch)
    #expect(json.output.contains(#""state":"signedOut""#) && json.output.contains(#""profile":"work""#))
    #expect(!owner.requests.isEmpty)
  }

  @Test(arguments: [("status", "profiles", Int32(3)), ("sessions", "sessions", 0)])
  func `a profile narrows JSON as it narrows the table`(command: String, list: String, code: Int32) throws {
    let owner = try owner()
    let run = try CommandRun([command, "-p", "work", "--json"], in: scratch)
    #expect(run.code == code)
    let root = try JSONDocument(parsing: Array(run.output.utf8)).root
    #expect(
      try root.required(list).elements().map { String(decoding: $0.text, as: UTF8.self) } == [
        Self.session("work", "challengePending")
      ])
    #expect(try CommandRun([command, "-p", "nowhere", "--json"], in: scratch).code == 2)
    #expect(!owner.requests.isEmpty)
  }

  @Test func `a profile narrows the kept sessions, and their command is for this broker`() throws {
    let kept = ["home", "work"].map {
      #"{"profile":"\#($0)","provider":"rest","until":"2026-03-01T00:00:00Z"}"#
    }
    let status = FakeOwner.status(profiles: Self.sessions).replacing(
      #""profiles":["#, with: #""parkedSessions":[\#(kept.joined(separator: ","))],"profiles":["#)
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? status : #""result":{"logins":[]}"#
    }
    let run = try CommandRun(["status", "-p", "work"], in: scratch)
    let lines = run.output.split(separator: "\n").filter { $0.contains("is kept until") }
    #expect(lines.count == 1 && lines.first?.hasPrefix("work: its session at rest") == true, "\(run.output)")
    #expect(lines.first?.contains("; end it with: authbroker --state") == true, "\(run.output)")
    #expect(lines.first?.hasSuffix(" logout --profile work") == true, "\(run.output)")
    let json = try CommandRun(["status", "-p", "work", "--json"], in: scratch)
    let root = try JSONDocument(parsing: Array(json.output.utf8)).root
    #expect(
      try root.required("parkedSessions").elements().map { String(decoding: $0.text, as: UTF8.self) } == [kept[1]])
    #expect(!owner.requests.isEmpty)
  }

  @Test func `another socket than the running broker's is not passed over in silence`() throws {
    let owner = try owner()
    let run = try CommandRun(["--socket", "/proc/nonexistent/s", "sessions"], in: scratch)
    #expect(run.code == 0 && run.errors.contains("not on /proc/nonexistent/s: --socket is for"), "\(run.errors)")
    #expect(!owner.requests.isEmpty)
  }

  @Test func `a command that a terminal would break stands on a line of its own`() {
    let next = NextCommand("log in with", "login", "--profile", "work")
    let message = Message("the user has never logged in", next: next)
    let line = "the user has never logged in; log in with: authbroker login --profile work"
    #expect(message.shown(for: nil, columns: nil) == line && message.shown(for: nil, columns: 200) == line)
    let broken = "the user has never logged in; log in with:\n  authbroker login --profile work"
    #expect(message.shown(for: nil, columns: 80) == broken)
    #expect(Message("", next: message.next).shown(for: nil, columns: 10).hasPrefix("log in with:\n"))
  }

  @Test func `a table that is wider than the terminal becomes a paragraph for each line`() throws {
    let owner = try owner()
    let run = try withExtendedLifetime(owner) {
      try CommandRun(
        atTerminal: [], ["sessions"], in: scratch, environment: ["NO_COLOR": "1"], columns: 40)
    }
    let paragraphs = [("home", "signed out"), ("work", "login pending")].map { profile, state in
      "PROFILE        \(profile)\r\nSTATE          \(state)\r\nPROVIDER       oidc\r\n"
    }
    #expect(run.output.hasPrefix(paragraphs.joined(separator: "\r\n")), "\(run.output)")
  }

  @Test func `status says that an older copy of the vault may be in use`() throws {
    let status = FakeOwner.status().replacing("}", with: #","mayBeOlder":true}"#, maxReplacements: 1)
    let run = try withExtendedLifetime(FakeOwner(in: scratch) { _, _ in status }) {
      try CommandRun(["status"], in: scratch)
    }
    #expect(
      (run.output + run.errors).contains("an older copy of the vault may be in use"), "\(run.output)\(run.errors)")
  }
}
