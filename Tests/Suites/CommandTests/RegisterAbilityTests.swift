import TestSupport
import Testing

@testable import authbroker

/// `register` at a provider that makes no accounts.
@Suite(.standardTimeLimit) struct RegisterAbilityTests {
  private let scratch = Scratch()

  private static let session =
    #"{"profile":"work","provider":"oidc","state":"signedOut","scopes":[],"refreshTokenPresent":false}"#

  private func owner(_ methods: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "initialize":
        #""result":{"protocolVersion":"1","server":{"name":"authbroker"},"capabilities":{"methods":[],"events":[],"#
          + #""framings":[],"providers":[{"type":"oidc","methods":[\#(methods)]}]},"sessions":["#
          + Self.session + #"],"sequence":1}"#
      case "getSession": #""result":"# + Self.session
      default: FakeOwner.refusal(1050, "unsupportedByProvider", "The provider of this profile does not offer this.")
      }
    }
  }

  @Test func `nobody is asked for what cannot be sent`() throws {
    let owner = try owner(#""getCurrentUser""#)
    for words in [["register"], ["register", "--profile", "work"]] {
      let run = try CommandRun(atTerminal: [], words, in: scratch)
      #expect(run.code == 1)
      #expect(!run.output.contains("E-mail address"), "\(run.output)")
    }
    #expect(!owner.requests.contains { $0.hasPrefix("register") })
  }

  @Test func `a provider that can is asked`() throws {
    let owner = try owner(#""register""#)
    let steps = [
      CommandRun.Step(question: "E-mail address: ", answer: "ada@example.com\n"),
      .init(question: "Password", answer: "x y\n"), .init(question: "Repeat the password: ", answer: "x y\n"),
    ]
    #expect(try CommandRun(atTerminal: steps, ["register"], in: scratch).code == 1)
    #expect(owner.requests.last?.hasPrefix("register ") == true)
  }
}
