import JSON
import TestSupport
import Testing

@testable import authbroker

/// A broker that ignores the address of a question, and answers for the profile that is not named.
@Suite(.standardTimeLimit) struct OlderBrokerTests {
  private let scratch = Scratch()

  private func owner(_ target: String, _ token: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      guard method == "getAccessToken" else { return #""result":{"targets":[{"url":"https://a.example",\#(target)}]}"# }
      guard params?["profile"] != nil else {
        return FakeOwner.refusal(1080, "unknownProfile", "Several are configured.")
      }
      return token
    }
  }

  @Test(arguments: [["helper", "curl", "https://a.example"], ["token", "--url", "https://a.example"]])
  func `its refusal for another profile is not the answer`(_ words: [String]) throws {
    let owner = try owner(
      #""profile":"work""#,
      #""result":{"accessToken":"made-up","expiresAt":null,"scopes":[],"profile":"work","tokenId":"two"}"#)
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 0 && run.output.contains("made-up"), "\(run.output)\(run.errors)")
    #expect(owner.requests.count == 3, "\(owner.requests)")
  }

  @Test func `a target of another user is not git's, whatever becomes of its token`() throws {
    let owner = try owner(
      #""profile":"work","username":"ann""#, FakeOwner.refusal(1040, "loginRequired", "It is signed out."))
    let question = "protocol=https\nhost=a.example\nusername=bob\n"
    let run = try CommandRun(["helper", "git", "get"], in: scratch, input: question)
    #expect(run.code == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run.output)\(run.errors)")
    #expect(owner.requests.allSatisfy { !$0.contains("work") })
  }

  @Test(arguments: [
    ["token", "--url", "https://a.example"], ["helper", "git", "get"], ["helper", "curl", "https://a.example"],
    ["local", "users"],
  ])
  func `what it has no method for is told with the command that changes over`(_ words: [String]) throws {
    let own = #""result":{"accessToken":"made-up","expiresAt":null,"scopes":[],"profile":"default","tokenId":"two"}"#
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getAccessToken" ? own : FakeOwner.refusal(-32601, "methodNotFound", "There is no such method.")
    }
    let run = try CommandRun(words, in: scratch, input: "protocol=https\nhost=a.example\n")
    #expect(run.code == 2 && !run.output.contains("made-up"), "\(run.output)\(run.errors)")
    let told = "the running broker is of an earlier version, which cannot do this; restart it with: authbroker"
    #expect(run.errors.contains(told) && run.errors.hasSuffix(" stop\n"), "\(run.errors)")
    #expect(!owner.requests.isEmpty)
  }

  @Test func `a method that was misspelt is looked for in the list of all`() throws {
    let owner = try FakeOwner(in: scratch) { _, _ in
      FakeOwner.refusal(-32601, "methodNotFound", "There is no such method.")
    }
    let run = try CommandRun(["call", "getStatuss"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("there is no such method; see: authbroker"), "\(run.errors)")
    #expect(run.errors.hasSuffix(" call rpc.discover\n"), "\(run.errors)")
    #expect(owner.requests.count == 1)
  }
}
