import JSON
import TestSupport
import Testing

@testable import authbroker

/// Tokens that are more than their bytes.
@Suite(.standardTimeLimit) struct BoundTokenTests {
  private let scratch = Scratch()

  /// A broker that knows addresses says which target a token is for; an older one does not.
  @Test(arguments: [#","target":{"prefix":"https://a.example"}"#, ""])
  func `a token that is bound to a key is refused to tools that can only bear one`(_ target: String) throws {
    let token =
      #""accessToken":"made-up","tokenType":"DPoP","expiresAt":null,"scopes":[],"profile":"work","tokenId":"one""#
    let owner = try FakeOwner(in: scratch) { method, params in
      guard method == "listTargets" else { return #""result":{\#(token)\#(params?["url"] == nil ? "" : target)}"# }
      return #""result":{"targets":[{"url":"https://a.example","profile":"work"}]}"#
    }
    let path = scratch.file("token")
    let calls: [[String]] = [
      ["helper", "curl", "https://a.example"], ["token"], ["header"], ["token", "--format", "env"],
      ["exec", "--", "/bin/echo", "run"], ["file", path, "--once"],
    ]
    for words in calls {
      let run = try CommandRun(words, in: scratch)
      #expect(run.code == 6 && run.output.isEmpty, "\(words): \(run.output)\(run.errors)")
      #expect(run.errors.contains("has the type DPoP: it is bound to a key"), "\(run.errors)")
      #expect(run.errors.contains("token --json") && !run.errors.contains("made-up"), "\(run.errors)")
    }
    #expect(!scratch.names.contains("token"))
    let whole = try CommandRun(["token", "--json"], in: scratch)
    #expect(whole.code == 0 && whole.output.contains(#""tokenType":"DPoP""#), "\(whole.errors)")
    #expect(owner.requests.contains { $0.hasPrefix("getAccessToken") })
  }
}
