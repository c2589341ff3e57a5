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
    let session = Self.session("," + members)
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: session)
      case "listSessions": #""result":{"sessions":[\#(session)]}"#
      default: #""result":{"logins":[]}"#
      }
    }
    for words in [["status"], ["sessions"]] {
      let run = try CommandRun(words, in: scratch)
      #expect(
        run.code == 0 && run.output.hasSuffix("\nwork: \(text); log in with: \(Self.login(scratch))\n"),
        "\(run.output)\(run.errors)")
    }
    #expect(owner.requests.count >= 2)
  }

  @Test func `status and sessions tell that the newest tokens are not saved`() throws {
    let session =
      #"{"profile":"work","provider":"oidc","state":"authenticated","scopes":[],"refreshTokenPresent":true,"#
      + #""storeDegraded":true}"#
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: session)
      case "listSessions": #""result":{"sessions":[\#(session)]}"#
      default: #""result":{"logins":[]}"#
      }
    }
    for words in [["status"], ["sessions"]] {
      let run = try CommandRun(words, in: scratch)
      #expect(
        run.code == 0 && run.output.contains("\nwork: the newest tokens of work could not be saved"),
        "\(run.output)\(run.errors)")
    }
    #expect(owner.requests.count >= 2)
  }

  /// The command as the command line of a test makes it, which names its state directory.
  private static func login(_ scratch: Scratch) -> String {
    "authbroker --state \(scratch.file("state")) login --profile work"
  }
}
