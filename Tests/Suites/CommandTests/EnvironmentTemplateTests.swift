import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// Variables that hold a token.
@Suite(.standardTimeLimit) struct EnvironmentTemplateTests {
  private static let expiry = Timestamp(milliseconds: 1_767_225_600_000)

  private static func value(_ word: String, expiresAt: Timestamp? = expiry) throws -> String? {
    let token = Array("made-up".utf8)
    let bytes = try EnvironmentTemplate(word).variable(token.span, expiresAt: expiresAt)
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("GH_TOKEN", "GH_TOKEN=made-up\0"), ("A=Bearer {token}", "A=Bearer made-up\0"),
    ("A={token}:{token}", "A=made-up:made-up\0"), ("E={expiry}", "E=2026-01-01T00:00:00Z\0"),
    ("npm_config_//r.example.com/:_authToken={token}", "npm_config_//r.example.com/:_authToken=made-up\0"),
    ("J={\"a\":\"{token}\"}=", "J={\"a\":\"made-up\"}=\0"),
  ])
  func `a template is filled`(word: String, variable: String) throws {
    #expect(try Self.value(word) == variable)
  }

  @Test(arguments: ["", "=x{token}", "A B", "A\tB={token}", "A\u{1B}", "A=", "A=text", "PATH", "LD_PRELOAD={token}"])
  func `what can be no variable of a token is a usage error`(word: String) {
    let failure = #expect(throws: CommandFailure.self) { try EnvironmentTemplate(word) }
    #expect(failure?.exitCode == .usage)
  }

  @Test func `an expiry that is not known, and a NUL, make no variable`() throws {
    #expect(try Self.value("E={expiry}", expiresAt: nil) == nil)
    let bytes: [UInt8] = [65, 0]
    #expect(try EnvironmentTemplate("A").variable(bytes.span, expiresAt: nil) == nil)
  }

  @Test func `behind the program's name no word is an option`() throws {
    let words = ["exec", "-p", "work", "--", "gh", "--json", "-q", "--", "x"]
    let (command, arguments) = try CommandLineProgram.parse(words)
    #expect(command.description.name == "exec")
    #expect(arguments.operands == ["gh", "--json", "-q", "--", "x"] && !arguments.has("--json"))
    let bare = try CommandLineProgram.parse(["exec", "-q", "gh", "--help"]).1
    #expect(bare.operands == ["gh", "--help"] && bare.has("--quiet") && !bare.has("--help"))
  }
}
