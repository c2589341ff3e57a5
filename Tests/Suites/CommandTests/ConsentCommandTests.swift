import JSON
import TestSupport
import Testing

@testable import authbroker

/// `consent` and its commands, with a stand-in of an owner.
@Suite(.standardTimeLimit) struct ConsentCommandTests {
  private let scratch = Scratch()

  private static func question(_ id: String, _ more: String = "") -> String {
    #"{"consentId":"\#(id)","profile":"work","method":"getAccessToken","scopes":["repo"],"client":{"uid":1000,"#
      + #""tool":"git\u001b[2J","chain":[{"pid":4711,"startedAt":"2026-03-01T08:59:59Z","command":"git","#
      + #""executable":"/usr/bin/git"},{"pid":812,"startedAt":"2026-03-01T08:00:00Z","command":"agent"}]},"#
      + #""confirm":"once"\#(more),"grants":{"subject":"ancestor","pid":812,"rememberSeconds":600},"requests":2,"#
      + #""expiresAt":"2099-01-01T00:00:00Z"}"#
  }

  private func owner(_ questions: String...) throws -> FakeOwner {
    let list = questions.joined(separator: ",")
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "prove": #""result":{}"#
      case "listConsents": #""result":{"consents":[\#(list)]}"#
      case "answerConsent": #""result":{}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `list shows the client, its processes, and what a plain allow gives to whom`() throws {
    let owner = try owner(Self.question("cAbCdEfGhIjKl", #","forwarded":true"#))
    defer { withExtendedLifetime(owner) {} }
    let run = try CommandRun(["consent", "list"], in: scratch)
    #expect(run.code == 0, "\(run.errors)")
    for part in [
      "cAbCdEfG  a token of work (getAccessToken, scopes repo)", "process  git (4711) ← agent (812)",
      "program  /usr/bin/git", "gives it to agent (812) and all that it starts, until it is not used for 10 min 0 s",
      "2 requests wait", "forwarded by ssh",
    ] { #expect(run.output.contains(part), "\(part): \(run.output)") }
    #expect(!run.output.utf8.contains(0x1B), "no byte of a client's controls the terminal")
    #expect(try CommandRun(["consent", "list", "--json"], in: scratch).output.contains(#""consentId":"cAbC"#))
    // Where no person can be asked the group lists as well.
    #expect(try CommandRun(["consent"], in: scratch).output == run.output)
  }

  @Test func `allow and deny answer the only question, or the one whose beginning is given`() throws {
    let owner = try owner(Self.question("cAb1"))
    let allowed = try CommandRun(["consent", "allow"], in: scratch)
    #expect(allowed.code == 0 && allowed.errors.contains("allowed: agent (812)"), "\(allowed.errors)")
    _ = try CommandRun(
      ["consent", "allow", "cA", "--subject", "process", "--remember", "15m"], in: scratch)
    _ = try CommandRun(["consent", "allow", "--ancestor", "812"], in: scratch)
    let refused = try CommandRun(["consent", "deny", "--remember", "5s"], in: scratch)
    #expect(refused.code == 0 && refused.errors.contains("refused"))
    #expect(
      owner.requests.filter { $0.hasPrefix("answer") } == [
        #"answerConsent {"consentId":"cAb1","allow":true}"#,
        #"answerConsent {"consentId":"cAb1","allow":true,"subject":"process","rememberSeconds":900}"#,
        #"answerConsent {"consentId":"cAb1","allow":true,"ancestor":812}"#,
        #"answerConsent {"consentId":"cAb1","allow":false,"rememberSeconds":5}"#,
      ])
    #expect(owner.proofs.allSatisfy { $0 } && !owner.proofs.isEmpty)
  }

  @Test(arguments: [
    ([String](), 1, "no question waits; to see which ones do: authbroker"),
    (["cX"], 1, "no such question waits: it was answered, or its time is over"),
  ]) func `where none is meant that is said`(_ words: [String], _ code: Int, _ sentence: String) throws {
    let owner = try words.isEmpty ? owner() : owner(Self.question("cAb1"))
    defer { withExtendedLifetime(owner) {} }
    let run = try CommandRun(["consent", "allow"] + words, in: scratch)
    #expect(run.code == code && run.errors.contains(sentence), "\(run.errors)")
  }

  @Test func `where several are meant one is to be named`() throws {
    let owner = try owner(Self.question("cAb1"), Self.question("cAb2"))
    defer { withExtendedLifetime(owner) {} }
    let run = try CommandRun(["consent", "allow", "cAb"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("2 questions are meant; name one"), "\(run.errors)")
  }
}
