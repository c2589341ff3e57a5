import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

@Suite(.standardTimeLimit) struct RekeyCommandTests {
  private let scratch = Scratch()

  /// An owner whose vault opens by `source`, and whose configuration names `configured`.
  private func owner(source: String, configured: String? = nil, isInitialized: Bool = true) throws -> FakeOwner {
    let present = Mutex(source)
    return try FakeOwner(in: scratch) { method, params in
      let wanted = (try? params?["keySource"]?.string()) ?? configured ?? source
      switch method {
      case "getStatus":
        return FakeOwner.status(source: present.withLock { $0 }, isInitialized: isInitialized)
      case "checkVault":
        guard present.withLock({ $0 }) != configured ?? source else { return #""result":{"ok":true,"findings":[]}"# }
        let finding =
          #"{"kind":"keySourceDiffers","severity":"warning","message":"They differ; run: authbroker rekey"}"#
        return #""result":{"ok":true,"findings":[\#(finding)]}"#
      default:
        guard wanted != "passphrase" || params?["newPassphrase"] != nil || present.withLock({ $0 }) == wanted else {
          return FakeOwner.refusal(-32602, "invalidParams", "Give a passphrase.", pointer: "/passphrase")
        }
        present.withLock { $0 = wanted }
        return #""result":{}"#
      }
    }
  }

  /// What a command line and its input must become.
  struct Case: Sendable, CustomTestStringConvertible {
    let source: String
    let words: [String]
    let input: String
    let params: String
    let said: String

    var testDescription: String { "\(source) \(words.joined(separator: " "))" }
  }

  private static let cases = [
    Case(source: "file", words: [], input: "", params: #"{"keySource":"file"}"#, said: "new keys (file)"),
    Case(
      source: "file", words: ["--source", "credential"], input: "", params: #"{"keySource":"credential"}"#,
      said: "vault re-encrypted; key source: credential (was file)"),
    Case(
      source: "file", words: ["--source", "passphrase", "--password-stdin"], input: "new\n",
      params: #"{"keySource":"passphrase","newPassphrase":"new"}"#, said: "key source: passphrase (was file)"),
    Case(
      source: "passphrase", words: ["--password-stdin"], input: "old\nnew\n",
      params: #"{"keySource":"passphrase","passphrase":"old","newPassphrase":"new"}"#,
      said: "only the new passphrase opens it"),
    Case(
      source: "passphrase", words: ["--keep-passphrase", "--password-stdin"], input: "old\n",
      params: #"{"keySource":"passphrase","passphrase":"old"}"#, said: "the same passphrase opens it"),
    Case(
      source: "passphrase", words: ["--source=file", "--password-command", "echo old"], input: "",
      params: #"{"keySource":"file","passphrase":"old"}"#, said: "key source: file (was passphrase)"),
    Case(
      source: "passphrase", words: ["--password-command", "echo old", "--new-password-command", "echo new"], input: "",
      params: #"{"keySource":"passphrase","passphrase":"old","newPassphrase":"new"}"#, said: "only the new"),
  ]

  @Test(arguments: cases)
  func `what is needed is read, sent, and told`(_ example: Case) throws {
    let owner = try owner(source: example.source)
    let run = try CommandRun(["rekey"] + example.words, in: scratch, input: example.input)
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.contains("rekey \(example.params)"), "\(owner.requests)")
    #expect(run.errors.contains(example.said), "\(run.errors)")
  }

  @Test func `a source that the configuration does not name is told of`() throws {
    let owner = try owner(source: "file")
    let run = try CommandRun(["rekey", "--source", "command"], in: scratch)
    #expect(run.errors.hasSuffix("still names another source; set vault.keySource to the new one\n"))
    #expect(owner.requests.contains(#"rekey {"keySource":"command"}"#))
  }

  @Test(arguments: [("file", "command"), ("passphrase", "file")])
  func `without a source the configuration decides`(source: String, configured: String) throws {
    let owner = try owner(source: source, configured: configured)
    let run = try CommandRun(["rekey", "--password-stdin"], in: scratch, input: "old\n")
    #expect(run.code == 0 && run.errors.contains("key source: \(configured) (was \(source))"), "\(run.errors)")
    #expect(owner.requests.contains(source == "file" ? "rekey {}" : #"rekey {"passphrase":"old"}"#))
  }

  @Test func `a passphrase that only the configuration asks for is asked for when the broker says so`() throws {
    let owner = try owner(source: "file", configured: "passphrase")
    let run = try CommandRun(["rekey", "--password-stdin"], in: scratch, input: "new\n")
    #expect(run.code == 0 && run.errors.contains("key source: passphrase (was file)"), "\(run.errors)")
    let requests = owner.requests.filter { $0.hasPrefix("rekey") }
    #expect(requests == ["rekey {}", #"rekey {"newPassphrase":"new"}"#])
  }

  @Test(arguments: [
    ["--source", "fil"], ["--keep-passphrase"], ["--source", "passphrase"],
    ["--source", "passphrase", "--keep-passphrase"],
    ["--passphrase", "canary"], ["file"],
  ])
  func `what cannot be followed changes nothing`(words: [String]) throws {
    let owner = try owner(source: "file")
    let run = try CommandRun(["rekey"] + words, in: scratch)
    #expect(run.code == 2, "\(run.errors)")
    #expect(!run.errors.contains("canary"))
    #expect(!owner.requests.contains { $0.hasPrefix("rekey") })
  }

  @Test func `a vault without a key has none to change`() throws {
    let owner = try owner(source: "passphrase", isInitialized: false)
    let run = try CommandRun(["rekey", "--password-stdin"], in: scratch, input: "a\nb\n")
    #expect(run.code == 7 && run.errors.contains("unlock"))
    #expect(owner.requests == ["getStatus {}"])
  }

  @Test func `a new passphrase that is missing on standard input is called the new one`() throws {
    let owner = try owner(source: "passphrase")
    let run = try CommandRun(["rekey", "--password-stdin"], in: scratch, input: "old\n")
    #expect(run.code == 2 && run.errors.contains("no line to read the new passphrase from"), "\(run.errors)")
    #expect(!owner.requests.contains { $0.hasPrefix("rekey") })
  }

  @Test func `at a terminal the current passphrase is asked for once and the new one twice`() throws {
    let owner = try owner(source: "passphrase")
    let steps = [
      CommandRun.Step(question: "Passphrase: ", answer: "old\n"),
      .init(question: "New passphrase: ", answer: "new long one\n"),
      .init(question: "Repeat the passphrase: ", answer: "new long one\n"),
    ]
    let run = try CommandRun(atTerminal: steps, ["rekey"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let sent = #"rekey {"keySource":"passphrase","passphrase":"old","newPassphrase":"new long one"}"#
    #expect(owner.requests.contains(sent))
  }
}
