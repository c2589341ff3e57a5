import JSON
import TestSupport
import Testing

@testable import authbroker

/// Headers as a JSON object, for programs that run a command for them.
@Suite(.standardTimeLimit) struct HeadersFormatTests {
  private let scratch = Scratch()

  private func owner(_ token: String, _ more: String = "") throws -> FakeOwner {
    try FakeOwner(in: scratch) { _, _ in
      #""result":{"accessToken":"\#(token)","tokenType":"Bearer","expiresAt":"2099-01-01T00:00:00Z","scopes":[],"#
        + #""profile":"default","tokenId":"t"\#(more)}"#
    }
  }

  @Test(arguments: [["token", "--format", "headers"], ["header", "--format", "headers"]])
  func `they are one object, to the byte`(words: [String]) throws {
    let owner = try owner("made-up~+/=")
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 0 && run.output == "{\"Authorization\": \"Bearer made-up~+/=\"}\n", "\(run)")
    #expect(owner.requests.count == 1)
  }

  @Test func `a target that wants basic authentication gets it`() throws {
    let owner = try owner("s", #","target":{"prefix":"https://a.example","username":"ann","scheme":"Basic"}"#)
    let run = try withExtendedLifetime(owner) {
      try CommandRun(["header", "--format", "headers", "--url", "https://a.example/x"], in: scratch)
    }
    #expect(run.output == "{\"Authorization\": \"Basic YW5uOnM=\"}\n", "\(run)")
  }

  @Test(
    arguments: [
      ("made-up", "", ["header", "--json"], "Bearer made-up"),
      (
        "s", #","target":{"prefix":"https://a.example","username":"ann","scheme":"Basic"}"#,
        ["header", "--json", "--url", "https://a.example/x"], "Basic YW5uOnM="
      ), ("made-up", "", ["token", "--json"], nil),
    ])
  func `the whole answer has the header's value, where one can carry the token`(
    token: String, more: String, words: [String], value: String?
  ) throws {
    let owner = try owner(token, more)
    let run = try withExtendedLifetime(owner) { try CommandRun(words, in: scratch) }
    let root = try JSONDocument(parsing: Array(run.output.utf8)).root
    #expect(try root["authorization"]?.string() == value && root["tokenId"]?.string() == "t", "\(run)")
    #expect(owner.requests.count == 1)
  }

  @Test(arguments: [#"a\"b"#, #"a\\b"#, #"a\u000ab"#])
  func `a token that no header can carry is refused`(token: String) throws {
    let owner = try owner(token)
    let run = try withExtendedLifetime(owner) { try CommandRun(["token", "--format", "headers"], in: scratch) }
    #expect(run.code == 1 && run.output.isEmpty && !run.errors.contains("a\\"), "\(run)")
  }

  @Test func `a header has no other forms`() throws {
    let run = try CommandRun(["header", "--format", "docker"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("header, headers, json"), "\(run)")
  }
}
