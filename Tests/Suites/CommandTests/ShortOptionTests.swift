import AuthBrokerClient
import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// The short options, alone and together, and what `--quiet` leaves out.
@Suite(.standardTimeLimit) struct ShortOptionTests {
  private let scratch = Scratch()

  @Test(arguments: [
    ["-q", "-p", "work", "token"], ["-qp", "work", "token"], ["token", "-qp", "work"],
    ["token", "--quiet", "--profile=work"],
  ])
  func `they mean the long ones`(words: [String]) throws {
    let (command, arguments) = try CommandLineProgram.parse(words)
    #expect(command.description.name == "token" && arguments.operands.isEmpty)
    #expect(try arguments.has("--quiet") && arguments.profile() == ProfileName("work"))
  }

  @Test(arguments: [["-V"], ["--version"], ["-qV"], ["-p", "work", "-V"]])
  func `the version stands in the place of a command`(words: [String]) throws {
    #expect(try CommandLineProgram.parse(words).0.description.name == "version")
  }

  @Test(arguments: [["-pq", "token"], ["-profile", "work", "token"], ["-x"], ["token", "-qx"], ["token", "-qp"]])
  func `a value goes with the last one only, and an unknown one is refused`(words: [String]) {
    let failure = #expect(throws: CommandFailure.self) { try CommandLineProgram.parse(words) }
    #expect(failure?.exitCode == .usage)
  }

  @Test func `help names both forms`() {
    #expect(TokenCommand.description.help.contains("\n  -p, --profile PROFILE"))
    #expect(HelpText.overview.contains("\n  -V, --version "))
  }

  @Test func `quiet leaves out notices, and no failure`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "listSessions": #""result":{"sessions":[]}"#
      case "logout": #""result":{"results":[{"profile":"work","serverRevoked":"yes"}]}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
    try withExtendedLifetime(owner) {
      let loud = try CommandRun(["logout"], in: scratch)
      #expect(loud.code == 0 && loud.errors.contains("work: "), "\(loud.errors)")
      let quiet = try CommandRun(["-q", "logout"], in: scratch)
      #expect(quiet.code == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
      let failed = try CommandRun(["-q", "status"], in: scratch)
      #expect(failed.code != 0 && failed.errors.hasPrefix("authbroker: "), "\(failed.errors)")
    }
  }
}
