import BrokerProtocol
import Glibc
import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@testable import authbroker

/// The doctor's checks on real files, and the whole command on a broker that says what it is told to.
@Suite(.standardTimeLimit) struct DoctorTests {
  let scratch = Scratch()

  private func installation(_ words: [String] = []) throws -> Installation {
    let arguments = try Arguments(["--state", scratch.file("state")] + words, known: Option.global)
    let context = Context(arguments: arguments, environment: ["HOME": scratch.path])
    return Installation(context, try context.paths())
  }

  /// Files as a broker leaves them.
  func makeState() throws {
    _ = try PrivateDirectory(scratch.file("state"), create: true)
    // A test beside this one may just have another umask(2), for a socket of its own: all have one process.
    #expect(chmod(scratch.file("state"), 0o700) == 0)
    for name in ["vault.sqlite", "vault.key", "broker.log"] { try scratch.write("x", to: "state/" + name) }
  }

  private func finding(_ check: String, _ findings: [DoctorFinding]) -> DoctorFinding? {
    findings.first { $0.check == check }
  }

  /// A daemon that says its version and its verdict, and refuses to start.
  func makeDaemon(version: String = ProgramVersion.current, verdict: String = "echo 'ok: fine'") throws {
    try scratch.write(
      """
      #!/bin/sh
      case "$*" in
      *--version*) echo 'authbrokerd \(version)' ;;
      *--check-config*) \(verdict) ;;
      *) echo 'error keySourceUnavailable the key is gone; bring it back.' >&3; exit 7 ;;
      esac

      """, to: "daemon")
    #expect(chmod(scratch.file("daemon"), 0o700) == 0)
  }

  @Test func `files as they should be are well, and a key beside its vault is told of`() throws {
    try makeState()
    let findings = FilesCheck.findings(try installation())
    #expect(findings.allSatisfy { $0.status == .ok || $0.status == .note }, "\(findings)")
    #expect(finding("files.state", findings)?.message.sentence == scratch.file("state") + " (0700)")
    #expect(finding("files.keyPlace", findings)?.status == .note)
  }

  @Test(arguments: [("state", 0o750), ("state/vault.sqlite", 0o640), ("state/vault.key", 0o604)])
  func `what is open to others is an error with the command that closes it`(name: String, mode: UInt32) throws {
    try makeState()
    #expect(chmod(scratch.file(name), mode) == 0)
    let errors = FilesCheck.findings(try installation()).filter { $0.status == .error }
    #expect(errors.count == 1)
    #expect(errors[0].message.sentence.hasSuffix("run: chmod \(name == "state" ? 700 : 600) \(scratch.file(name))"))
    #expect(errors[0].exitCode == (name == "state" ? .failure : .vault))
  }

  @Test func `a link in the place of the key is no key`() throws {
    try makeState()
    #expect(unlink(scratch.file("state/vault.key")) == 0)
    #expect(symlink("/etc/passwd", scratch.file("state/vault.key")) == 0)
    #expect(finding("files.key", FilesCheck.findings(try installation()))?.status == .error)
  }

  @Test func `a configuration that others can change is an error, and so is a chosen one that is missing`() throws {
    try makeState()
    try scratch.write("{}", to: "c.json")
    #expect(chmod(scratch.file("c.json"), 0o646) == 0)
    let open = FilesCheck.findings(try installation(["--config", scratch.file("c.json")]))
    #expect(finding("files.configuration", open)?.status == .error)
    #expect(
      finding("files.configuration", open)?.message.sentence.hasSuffix("run: chmod o-w \(scratch.file("c.json"))")
        == true)
    let missing = FilesCheck.findings(try installation(["--config", scratch.file("none.json")]))
    #expect(finding("files.configuration", missing)?.status == .error)
  }

  @Test func `files that an interrupted change left behind are named`() throws {
    try makeState()
    for name in ["vault.key.next", "vault.key.Ab12", "vault.key.vaults", "vault.sqlite.backup-1"] {
      try scratch.write("x", to: "state/" + name)
    }
    let findings = LeftoverCheck.findings(try installation())
    #expect(findings.map(\.check).sorted() == ["leftovers.backup", "leftovers.key", "leftovers.nextKey"])
    let names = scratch.names(in: "state")
    for finding in findings {
      #expect(finding.status == .note && names.contains(where: finding.message.sentence.contains))
    }
  }

  @Test func `a clock, a limit and a disk are judged by their numbers`() {
    #expect(EnvironmentCheck.clock(Timestamp(milliseconds: 0)).status == .error)
    #expect(EnvironmentCheck.clock(Timestamp(milliseconds: 1_800_000_000_000)).status == .ok)
    #expect(EnvironmentCheck.lockedMemory(64 << 10)?.status == .warning)
    #expect(EnvironmentCheck.lockedMemory(.max)?.status == .ok)
    #expect(EnvironmentCheck.lockedMemory(nil) == nil)
    let limited = EnvironmentCheck.lockedMemory(8 << 20)
    #expect(limited?.status == .ok && limited?.message.sentence == "8 MiB allowed, 7 MiB wanted")
    let sizes: [(Int64, String)] = [
      (0, "0 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB"), (13 << 19, "6.5 MiB"), ((1 << 30) - 1, "1023.9 MiB"),
      (1 << 30, "1 GiB"),
    ]
    for (count, text) in sizes { #expect(EnvironmentCheck.size(count) == text) }
    #expect(FilesCheck.freeSpace(0).status == .error)
    #expect(FilesCheck.freeSpace((16 << 20) - 1).status == .warning)
    #expect(FilesCheck.freeSpace(16 << 20).status == .ok)
  }

  /// Nothing is closed to root.
  @Test(arguments: [("state", 0o500), ("state/vault.sqlite", 0)])
  func `what is closed to its owner is an error as well`(name: String, mode: UInt32) throws {
    try makeState()
    #expect(chmod(scratch.file(name), mode) == 0)
    defer { _ = chmod(scratch.file(name), 0o700) }
    #expect(FilesCheck.findings(try installation()).count { $0.status == .error } == (geteuid() == 0 ? 0 : 1))
  }

  @Test func `a socket's path that is too long is an error before any start`() throws {
    let socket = "/" + String(repeating: "s", count: 200)
    #expect(finding("files.socket", FilesCheck.findings(try installation(["--socket", socket])))?.status == .error)
  }

  @Test func `a start that fails is a finding, and the rest is still looked at`() throws {
    try makeDaemon()
    let run = try CommandRun(["doctor"], in: scratch)
    #expect(run.code == 7)
    #expect(run.errors.isEmpty)
    #expect(run.words.contains("error broker") && run.output.contains("the key is gone; bring it back\n"))
    #expect(run.output.contains("daemon") && run.output.hasSuffix("\n1 error\n"), "\(run.output)")
  }

  @Test func `a configuration that is not valid is an error in its own words`() throws {
    try makeDaemon(verdict: "echo 'authbroker: c.json:3: no key nonsense' >&2; exit 1")
    let run = try CommandRun(["doctor", "--no-start"], in: scratch)
    #expect(run.code == 1)
    #expect(run.words.contains("error configuration c.json:3: no key nonsense\n"), "\(run.output)")
    #expect(run.words.contains("note broker"))
  }

  @Test func `a missing daemon is an error, another version a warning`() throws {
    #expect(try CommandRun(["doctor", "--no-start"], in: scratch).words.contains("error daemon"))
    try makeDaemon(version: "0.0.1")
    let run = try CommandRun(["doctor", "--no-start"], in: scratch)
    #expect(run.code == 0)
    #expect(run.words.contains("warning daemon") && run.output.contains("0.0.1"))
  }
}

extension DoctorTests {
  /// What a broker says, and what the doctor makes of it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let status: String
    var check = #""result":{"ok":true,"findings":[]}"#
    let code: Int32
    let line: String

    var testDescription: String { name }
  }

  private static func found(_ kind: String, _ severity: String) -> String {
    #""result":{"ok":\#(severity != "error"),"findings":[{"kind":"\#(kind)","severity":"\#(severity)","#
      + #""message":"Here is what.","profile":"work"}]}"#
  }

  private static let degraded =
    #"{"profile":"work","provider":"local","state":"authenticated","scopes":[],"refreshTokenPresent":true,"#
    + #""storeDegraded":true}"#

  private static let cases = [
    Case(name: "well", status: FakeOwner.status(), code: 0, line: "ok integrity the database"),
    Case(
      name: "locked", status: FakeOwner.status(locked: true), code: 7, line: "error state it is locked"),
    Case(
      name: "new", status: FakeOwner.status(locked: true, source: "passphrase", isInitialized: false), code: 7,
      line: "error state it is new"),
    Case(
      name: "damaged", status: FakeOwner.status(), check: found("databaseDamaged", "error"), code: 7,
      line: "error database here is what"),
    Case(
      name: "weaker", status: FakeOwner.status(), check: found("keySourceDiffers", "warning"), code: 0,
      line: "warning key source here is what\n"),
    Case(
      name: "older copy", status: FakeOwner.status(), check: found("rolledBack", "error"), code: 7,
      line: "error rollback here is what"),
    Case(
      name: "clock", status: FakeOwner.status(), check: found("clockSetBack", "error"), code: 1,
      line: "error clock here is what"),
    Case(
      name: "unknown", status: FakeOwner.status(), check: found("newKind", "error"), code: 7,
      line: "error vault here is what"),
    Case(
      name: "older", status: FakeOwner.status(version: "0.0.9"),
      check: FakeOwner.refusal(-32601, "methodNotFound", "No."),
      code: 0, line: "warning version the running broker has version 0.0.9"),
    Case(
      name: "degraded", status: FakeOwner.status(profiles: degraded), code: 1,
      line: "error saved the newest tokens of work"),
    Case(
      name: "silent", status: FakeOwner.refusal(1081, "accessDenied", "Not for you."), code: 1,
      line: "error broker the broker does not report its status: not for you"),
  ]

  @Test(arguments: cases)
  func `what the broker says becomes a line and an exit code`(_ example: Case) throws {
    try makeState()
    try makeDaemon()
    let owner = try FakeOwner(in: scratch) { method, _ in method == "getStatus" ? example.status : example.check }
    let run = try CommandRun(["doctor"], in: scratch)
    #expect(run.code == example.code, "\(run.output)")
    #expect(run.words.contains(" \(example.line)"), "\(run.output)")
    #expect(run.words.split(separator: "\n").count { $0.contains(" rollback ") } <= 1, "\(run.output)")
    #expect(owner.requests.first == "getStatus {}")
  }

  @Test func `the whole vault is looked at unless a quick look is wanted`() throws {
    try makeState()
    try makeDaemon()
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? FakeOwner.status() : #""result":{"ok":true,"findings":[]}"#
    }
    for word in [["--full"], [], ["--quick"]] { #expect(try CommandRun(["doctor"] + word, in: scratch).code == 0) }
    let checks = owner.requests.filter { $0.hasPrefix("checkVault") }
    #expect(checks == [#"checkVault {"full":true}"#, #"checkVault {"full":true}"#, #"checkVault {"full":false}"#])
    #expect(try CommandRun(["doctor", "--full", "--quick"], in: scratch).code == 2)
  }

  @Test func `a broker whose state directory was made again is no owner of it`() throws {
    try makeState()
    try makeDaemon()
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? FakeOwner.status() : #""result":{"ok":true,"findings":[]}"#
    }
    #expect(try !CommandRun(["doctor"], in: scratch).output.contains("does not own"))
    #expect(unlink(scratch.file("state/broker.lock")) == 0)
    let run = try CommandRun(["doctor", "--no-start"], in: scratch)
    let message = "the broker (pid 7) does not own \(scratch.file("state"))"
    #expect(run.code == 1 && run.words.contains(message), "\(run.output)")
    _ = owner
  }

  @Test func `the result for programs has every finding, with stable names`() throws {
    try makeState()
    try makeDaemon()
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? FakeOwner.status() : DoctorTests.found("tampered", "error")
    }
    let run = try CommandRun(["doctor", "--json"], in: scratch)
    let root = try JSONDocument(parsing: Array(run.output.utf8)).root
    #expect(try root.required("ok").bool() == false)
    #expect(try root.required("exitCode").integer() == 7 && run.code == 7)
    let findings = try root.required("findings").elements()
    let tampered = try #require(try findings.first { try $0.required("check").string() == "vault.tampered" })
    #expect(try tampered.required("status").string() == "error")
    #expect(try tampered.required("profile").string() == "work")
    let checks = try Set(findings.map { try $0.required("check").string() })
    #expect(checks.isSuperset(of: ["environment.home", "files.vault", "configuration.valid", "owner.answers"]))
    #expect(owner.requests.count == 3)
  }

  @Test func `the columns stand below each other, and only a terminal gets colours`() throws {
    try makeState()
    try makeDaemon()
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? FakeOwner.status() : #""result":{"ok":true,"findings":[]}"#
    }
    let plain = try CommandRun(["doctor"], in: scratch)
    #expect(!plain.output.contains("\u{1B}"))
    let rows = plain.output.split(separator: "\n").filter { $0.hasPrefix("  ") }.map(Array.init)
    #expect(rows.count > 10)
    // Status in column 2, label in column 11, text behind the longest label, which is AUTHBROKER_DAEMON.
    #expect(rows.allSatisfy { $0[10] == " " && $0[11] != " " && $0[29] == " " && $0[30] != " " }, "\(plain.output)")
    let terminal = try CommandRun(atTerminal: [], ["doctor"], in: scratch)
    #expect(terminal.output.contains("\u{1B}[32mok"))
    let sober = try CommandRun(atTerminal: [], ["doctor"], in: scratch, environment: ["NO_COLOR": "1"])
    #expect(!sober.output.contains("\u{1B}"))
    #expect(!owner.requests.isEmpty)
  }
}
