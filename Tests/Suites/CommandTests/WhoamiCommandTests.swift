import TestSupport
import Testing

@testable import authbroker

/// `whoami` and `profiles`.
@Suite(.standardTimeLimit) struct WhoamiCommandTests {
  private let scratch = Scratch()

  private static let work =
    #"{"profile":"work","provider":"oidc","state":"authenticated","userId":"u1","#
    + #""user":{"id":"u1","email":"ann@example.com","name":"Ann"},"scopes":[],"refreshTokenPresent":true}"#
  private static let home =
    #"{"profile":"home","provider":"rest","state":"signedOut","scopes":[],"refreshTokenPresent":false}"#

  private func owner(_ sessions: String...) throws -> FakeOwner {
    let sessions = sessions.joined(separator: ",")
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "listSessions": #""result":{"sessions":[\#(sessions)]}"#
      case "initialize":
        #""result":{"protocolVersion":"1","server":{"name":"authbroker"},"capabilities":{"methods":[],"events":[],"#
          + #""framings":[],"providers":[]},"profiles":[{"profile":"work","provider":"oidc","login":["#
          + #"{"method":"browser","fields":[]},{"method":"refreshToken","fields":["refreshToken"]},"#
          + #"{"method":"deviceCode","fields":[]}]}],"sessions":[\#(sessions)],"sequence":1}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `each account that is logged in is a line, and a member of users`() throws {
    let owner = try owner(Self.work, Self.home)
    try withExtendedLifetime(owner) {
      let run = try CommandRun(["whoami"], in: scratch)
      #expect(run.code == 0 && run.output == "ann@example.com (profile work, provider oidc)\n", "\(run.output)")
      let json = try CommandRun(["whoami", "--json"], in: scratch)
      let user =
        #"{"profile":"work","provider":"oidc","state":"authenticated","userId":"u1","email":"ann@example.com","name":"Ann"}"#
      #expect(json.code == 0 && json.output == #"{"users":[\#(user)]}"# + "\n", "\(json.output)")
    }
  }

  @Test func `where no account is logged in, the exit code says so`() throws {
    let owner = try owner(Self.work, Self.home)
    try withExtendedLifetime(owner) {
      let run = try CommandRun(["whoami", "-p", "home"], in: scratch)
      #expect(run.code == 3 && run.output.isEmpty, "\(run.output)")
      #expect(
        run.errors.hasSuffix(
          "not logged in; log in with: authbroker --state \(scratch.file("state")) login --profile home\n"),
        "\(run.errors)")
      let json = try CommandRun(["whoami", "-p", "home", "--json"], in: scratch)
      #expect(json.code == 3 && json.output == "{\"users\":[]}\n" && json.errors.isEmpty, "\(json.output)")
      #expect(try CommandRun(["whoami", "-p", "other"], in: scratch).code == 2)
    }
  }

  @Test func `a locked vault is told by its own code`() throws {
    let locked = Self.home.replacing("signedOut", with: "locked")
    let owner = try owner(locked)
    try withExtendedLifetime(owner) {
      let run = try CommandRun(["whoami"], in: scratch)
      #expect(run.code == 7, "\(run.errors)")
    }
  }

  @Test func `profiles say how to log in, without what is for programs`() throws {
    let owner = try owner(Self.work)
    try withExtendedLifetime(owner) {
      let run = try CommandRun(["profiles"], in: scratch)
      #expect(
        run.words
          == "PROFILE PROVIDER STATE ACCOUNT LOG IN BY\nwork oidc authenticated ann@example.com browser, deviceCode\n",
        "\(run.words)")
      let json = try CommandRun(["profiles", "--json"], in: scratch)
      let profile =
        #"{"profile":"work","provider":"oidc","state":"authenticated","account":"ann@example.com","#
        + #""login":["browser","refreshToken","deviceCode"]}"#
      #expect(json.output == #"{"profiles":[\#(profile)]}"# + "\n", "\(json.output)")
    }
  }
}
