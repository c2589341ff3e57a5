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

  /// As the broker of 26 November 2026 has answered: with a token of the default profile, whatever the address is.
  private func answering(_ targets: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      guard method == "getAccessToken" else { return #""result":{"targets":[\#(targets)]}"# }
      let profile = (try? params?["profile"]?.string()) ?? "default"
      return #""result":{"accessToken":"of-\#(profile)","expiresAt":null,"scopes":[],"profile":"\#(profile)","#
        + #""tokenId":"two"}"#
    }
  }

  private static let questions = [
    ["token", "--url", "https://a.example"], ["helper", "curl", "https://a.example"], ["helper", "git", "get"],
  ]

  @Test(arguments: questions)
  func `its token of the default profile goes to no server that has another's`(_ words: [String]) throws {
    let other = try answering(#"{"url":"https://a.example","profile":"work"}"#)
    let run = try CommandRun(words, in: scratch, input: "protocol=https\nhost=a.example\n")
    #expect(run.code == 0 && run.output.contains("of-work") && !run.output.contains("of-default"), "\(run.output)")
    #expect(!other.requests.isEmpty)
  }

  @Test(arguments: questions)
  func `its token of the default profile goes to no server without a target`(_ words: [String]) throws {
    let none = try answering("")
    let run = try CommandRun(words, in: scratch, input: "protocol=https\nhost=a.example\n")
    #expect(!run.output.contains("of-"), "\(run.output)")
    #expect(run.code == (words.contains("git") ? 0 : 1) && !none.requests.isEmpty, "\(run.errors)")
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

  @Test(arguments: [["local", "users"], ["reload"]])
  func `what it asks for another proof of is told with the command that changes over`(_ words: [String]) throws {
    let asked = scratch.file("state") + "/prove-0123456789abcdef"
    let owner = try FakeOwner(in: scratch) { _, _ in
      #""error":{"code":1081,"message":"Prove it.","data":{"kind":"accessDenied","nextAction":"none","retryable":false,"#
        + #""proof":{"path":"\#(asked)","nonce":"none"}}}"#
    }
    let run = try CommandRun(words, in: scratch)
    let told = "the running broker is of an earlier version; change over with: authbroker"
    #expect(run.code == 6 && run.errors.contains(told) && run.errors.hasSuffix(" stop\n"), "\(run.errors)")
    #expect(!owner.requests.isEmpty && !scratch.names(in: "state").contains { $0.hasPrefix("prove-") })
  }
}
