import TestSupport
import Testing

@testable import authbroker

/// What is wrong with a session, in words, and what to type.
@Suite(.standardTimeLimit) struct SessionNoticeTests {
  private let scratch = Scratch()

  private static func session(_ members: String) -> String {
    #"{"profile":"work","provider":"oidc","state":"expired","scopes":[],"refreshTokenPresent":false\#(members)}"#
  }

  @Test(arguments: [
    (#""loginRequiredReason":"refreshTokenExpired""#, "the session has ended: its refresh token has expired"),
    (#""loginRequiredReason":"vaultTampered""#, "the stored session has been modified"),
    (#""loginRequiredReason":"aReasonOfLater""#, "the session has ended (aReasonOfLater)"),
    (#""loginRequiredReason":"refreshOutcomeUnknown","loginRequiredMessage":"A reply was lost.""#, "a reply was lost"),
  ])
  func `status and sessions tell the reason and the command`(_ members: String, _ text: String) throws {
    for output in try outputs(of: Self.session("," + members)) {
      #expect(output.hasSuffix("\nwork: \(text); log in with: \(Self.login(scratch))\n"), "\(output)")
    }
  }

  @Test func `status and sessions tell that the newest tokens are not saved`() throws {
    for output in try outputs(of: Self.session(#","storeDegraded":true"#)) {
      #expect(output.contains("\nwork: the newest tokens of work could not be saved"), "\(output)")
    }
  }

  /// What `status` and `sessions` print of a session.
  private func outputs(of session: String) throws -> [String] {
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: session)
      case "listSessions": #""result":{"sessions":[\#(session)]}"#
      default: #""result":{"logins":[]}"#
      }
    }
    return try withExtendedLifetime(owner) {
      try ["status", "sessions"].map { word in
        let run = try CommandRun([word], in: scratch)
        #expect(run.code == 0, "\(run.errors)")
        return run.output
      }
    }
  }

  /// The command as the command line of a test makes it, which names its state directory.
  private static func login(_ scratch: Scratch) -> String {
    "authbroker --state \(scratch.file("state")) login --profile work"
  }
}
