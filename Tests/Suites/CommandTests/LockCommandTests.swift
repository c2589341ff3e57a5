import ClientSocket
import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@testable import authbroker

/// `lock`, `unlock`, and what other commands say of a locked vault.
@Suite(.standardTimeLimit) struct LockCommandTests {
  private let scratch = Scratch()

  /// An owner with a vault that is locked until it gets the passphrase `right`, or until any `unlock` if it has none.
  private func owner(locked: Bool = true, source: String, isInitialized: Bool = true) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": return FakeOwner.status(locked: locked, source: source, isInitialized: isInitialized)
      case "getSession":
        return #""result":{"profile":"default","provider":"local","state":"\#(locked ? "locked" : "signedOut")","#
          + #""scopes":[],"refreshTokenPresent":false}"#
      case "unlock":
        let given = (try? params?["passphrase"]?.string()) ?? ""
        guard source == "passphrase", !["right", "long enough"].contains(given) else { return #""result":{}"# }
        return FakeOwner.refusal(1061, "wrongPassphrase", "The passphrase is wrong.")
      case "lock": return #""result":{}"#
      default: return FakeOwner.refusal(1060, "vaultLocked", "The vault is locked.")
      }
    }
  }

  @Test func `lock locks the vault, asks what it is, and says how long that holds`() throws {
    let owner = try owner(locked: false, source: "file")
    let run = try CommandRun(["lock"], in: scratch)
    #expect(run.code == 0)
    #expect(run.errors.contains("locked while this broker runs"))
    #expect(run.errors.hasSuffix(": authbroker --state \(scratch.file("state")) unlock\n"))
    #expect(owner.requests == ["lock {}", "getStatus {}"])
  }

  @Test func `the promise of a passphrase is a stronger one`() throws {
    let owner = try owner(locked: false, source: "passphrase")
    let run = try CommandRun(["lock"], in: scratch)
    #expect(run.errors.contains("; unlock it with its passphrase: authbroker "))
    #expect(owner.requests.count == 2)
  }

  @Test func `where no broker runs there is nothing to lock, and none is started`() throws {
    let run = try CommandRun(["lock"], in: scratch)
    #expect(run.code == 0 && run.errors.contains("no key is in memory"))
    #expect(scratch.names.contains("state") == false)
  }

  @Test func `an owner that holds its lock and does not answer may have keys`() throws {
    let paths = try FakeOwner.paths(scratch)
    _ = try PrivateDirectory(paths.state, create: true)
    let lock = try FileLock(paths.ownerLock)
    #expect(try CommandRun(["lock"], in: scratch).code == 8)
    _ = consume lock
  }

  @Test func `a vault that is open is left alone, and nobody is asked`() throws {
    let owner = try owner(locked: false, source: "passphrase")
    let run = try CommandRun(["unlock"], in: scratch)
    #expect(run.code == 0 && run.errors.contains("open already"))
    #expect(owner.requests == ["getStatus {}"])
  }

  @Test func `a vault without a passphrase is opened without asking`() throws {
    let owner = try owner(source: "file")
    #expect(try CommandRun(["unlock"], in: scratch).code == 0)
    #expect(owner.requests == ["getStatus {}", "unlock {}"])
  }

  @Test func `a passphrase comes from standard input or from a program`() throws {
    let owner = try owner(source: "passphrase")
    #expect(try CommandRun(["unlock", "--password-stdin"], in: scratch, input: "right\nrest\n").code == 0)
    #expect(try CommandRun(["unlock", "--password-command", "echo right"], in: scratch).code == 0)
    #expect(owner.requests.filter { $0 == #"unlock {"passphrase":"right"}"# }.count == 2)
  }

  @Test func `a wrong passphrase that nobody typed is tried once and is exit code 4`() throws {
    let owner = try owner(source: "passphrase")
    let run = try CommandRun(["unlock", "--password-stdin"], in: scratch, input: "wrong\nright\n")
    #expect(run.code == 4)
    #expect(run.errors == "authbroker: the passphrase is wrong\n")
    #expect(owner.requests.count == 2)
    #expect(try CommandRun(["unlock"], in: scratch).code == 2, "there is nobody to ask")
  }

  @Test func `a person may try again, sees no letter of it, and is asked three times at most`() throws {
    let owner = try owner(source: "passphrase")
    let right = try CommandRun(
      atTerminal: [
        .init(question: "Passphrase: ", answer: "canary\n"), .init(question: "Passphrase: ", answer: "right\n"),
      ],
      ["unlock"], in: scratch)
    #expect(right.code == 0, "\(right.output)")
    #expect(!right.output.contains("canary") && right.output.hasSuffix("the vault is open\r\n"))
    let steps = [CommandRun.Step](repeating: .init(question: "Passphrase: ", answer: "no\n"), count: 3)
    #expect(try CommandRun(atTerminal: steps, ["unlock"], in: scratch).code == 4)
    #expect(owner.requests.filter { $0.hasPrefix("unlock") }.count == 5)
  }

  @Test func `the passphrase of a new vault is asked for twice`() throws {
    let owner = try owner(source: "passphrase", isInitialized: false)
    let steps = [
      CommandRun.Step(question: "New passphrase: ", answer: "long enough\n"),
      .init(question: "Repeat the passphrase: ", answer: "long enough\n"),
    ]
    // What the vault does not take need not be repeated.
    let short = CommandRun.Step(question: "New passphrase: ", answer: "shorter\n")
    let run = try CommandRun(atTerminal: [short] + steps, ["unlock"], in: scratch)
    #expect(run.code == 0 && run.output.contains("it can never be opened again"), "\(run.output)")
    #expect(run.output.contains("a passphrase must have at least 8 bytes"), "\(run.output)")
    let slip = [steps[0], .init(question: "Repeat the passphrase: ", answer: "rihgt\n")]
    let other = try CommandRun(atTerminal: slip + slip + slip, ["unlock"], in: scratch)
    #expect(other.code == 2 && other.output.contains("differ"))
    #expect(owner.requests.filter { $0.hasPrefix("unlock") }.count == 1)
  }

  @Test func `a new vault is not said to have a passphrase`() throws {
    let owner = try owner(source: "passphrase", isInitialized: false)
    let run = try CommandRun(["lock"], in: scratch)
    #expect(run.code == 0 && run.errors.contains("the vault is new"), "\(run.errors)")
    #expect(owner.requests == ["lock {}", "getStatus {}"])
  }

  @Test func `an interrupted question ends its line`() throws {
    let owner = try owner(source: "passphrase")
    let run = try CommandRun(
      atTerminal: [.init(question: "Passphrase: ", answer: "\u{3}")], ["unlock"], in: scratch)
    #expect(run.code == 130 && run.output.hasSuffix("Passphrase: \r\n"), "\(run.output)")
    #expect(owner.requests == ["getStatus {}"])
  }

  @Test(arguments: [["token"], ["header"], ["login", "--email", "a@b.c", "--password-stdin"], ["rekey"]])
  func `a locked vault is exit code 7, and the command that opens it is named`(words: [String]) throws {
    let owner = try owner(source: "file")
    let run = try CommandRun(words, in: scratch, input: "example password 1\n")
    #expect(run.code == 7)
    #expect(run.output.isEmpty)
    #expect(
      run.errors
        == "authbroker: the vault is locked; unlock it with: authbroker --state \(scratch.file("state")) unlock\n")
    #expect(!owner.requests.isEmpty)
  }

  @Test(arguments: ["login", "register"])
  func `nobody is asked for a password that a locked vault has no use for`(word: String) throws {
    let owner = try owner(source: "passphrase")
    let run = try CommandRun(atTerminal: [], [word], in: scratch)
    #expect(run.code == 7 && run.output.hasPrefix("authbroker: the vault is locked; "), "\(run.output)")
    #expect(owner.requests == ["getSession {}"])
  }
}
