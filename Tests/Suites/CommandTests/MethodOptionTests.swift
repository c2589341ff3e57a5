import TestSupport
import Testing

@testable import authbroker

/// The ways to log in by their names, those for people and those of the wire.
@Suite(.standardTimeLimit) struct MethodOptionTests {
  private let scratch = Scratch()

  private static let spellings = [
    ("device", "deviceCode"), ("deviceCode", "deviceCode"), ("browser", "browser"), ("client", "clientCredentials"),
    ("clientCredentials", "clientCredentials"),
  ]
  private static let session =
    #""result":{"status":"authenticated","session":{"profile":"default","provider":"oidc","state":"authenticated","#
    + #""scopes":[],"refreshTokenPresent":true}}"#
  private static let check =
    #""result":{"profile":"default","provider":"oidc","loginMethods":[],"findings":[],"trial":[]}"#
  private static let trial = #""result":{"trialId":"t1","findings":[],"waitsFor":"nothing"}"#

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "checkProvider": Self.check
      case "tryProvider": Self.trial
      default: Self.session
      }
    }
  }

  @Test(arguments: spellings)
  func `both names of a method are understood wherever one is given`(name: String, onWire: String) throws {
    let owner = try owner()
    let login = try CommandRun(["login", "--method", name], in: scratch)
    #expect(login.code == 0, "\(login.errors)")
    let check = try CommandRun(["provider-check", "--login", "--method", name], in: scratch)
    #expect(check.code == 0, "\(check.output)\(check.errors)")
    #expect(owner.requests.first == #"login {"method":"\#(onWire)"}"#)
    #expect(owner.requests.last?.contains(#""method":"\#(onWire)""#) == true, "\(owner.requests)")
  }

  @Test(arguments: [
    ("login", "password, deviceCode, browser, clientCredentials or refreshToken"),
    ("provider-check", "password, deviceCode, browser or clientCredentials"),
  ])
  func `the help shows the names of the wire, and so does the refusal of another one`(
    command: String, names: String
  ) throws {
    #expect(
      try CommandRun([command, "--help"], in: scratch).output.filter { !$0.isNewline }
        .split(separator: " ").joined(separator: " ").contains(names))
    let owner = try owner()
    let run = try CommandRun([command, "--method", "devise"], in: scratch)
    let text = "authbroker: unknown login method devise; did you mean deviceCode?\n"
    #expect(run.code == 2 && run.errors == text, "\(run.errors)")
    let other = try CommandRun([command, "--method", "magic"], in: scratch)
    let choices = "unknown login method magic; use \(names); see: authbroker help \(command)\n"
    #expect(other.code == 2 && other.errors.hasSuffix(choices), "\(other.errors)")
    #expect(owner.requests.isEmpty)
  }

  @Test func `a trial spends no other program's refresh token`() throws {
    let owner = try owner()
    let run = try CommandRun(["provider-check", "--login", "--method", "refreshToken"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("unknown login method refreshToken"), "\(run.errors)")
    #expect(owner.requests.isEmpty)
  }

  @Test(arguments: ["login", "provider-check"])
  func `an account is for a password, and a password is for an account`(command: String) throws {
    let owner = try owner()
    let run = try CommandRun([command, "--method", "client", "--email", "a@b.c"], in: scratch)
    let text = "--email is for --method password; see: authbroker help"
    #expect(run.code == 2 && run.errors.contains(text), "\(run.errors)")
    #expect(owner.requests.isEmpty)
  }
}
