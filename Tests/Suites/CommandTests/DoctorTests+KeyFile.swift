import Glibc
import TestSupport
import Testing

/// What the doctor says of the vault's key file.
extension DoctorTests {
  /// A verdict as `authbrokerd --check-config --json` gives it.
  private func verdict(keySource: String = "file", keyFile: String) -> String {
    #"echo '{"ok":true,"profiles":["default"],"keySource":"\#(keySource)","keyFile":"\#(keyFile)"}'"#
  }

  /// Runs the doctor on a broker whose vault is well.
  private func runOnHealthyOwner(_ status: String, _ words: [String] = []) throws -> CommandRun {
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? status : #""result":{"ok":true,"findings":[]}"#
    }
    let run = try CommandRun(["doctor"] + words, in: scratch)
    #expect(!owner.requests.isEmpty)
    return run
  }

  @Test func `the key file is looked for where the configuration says`() throws {
    try makeState()
    try makeDaemon(verdict: verdict(keyFile: scratch.file("elsewhere.key")))
    // Who else opens a vault by it is noted beside it, and no leftover.
    for name in ["elsewhere.key", "elsewhere.key.vaults"] { try scratch.write("x", to: name) }
    let well = try runOnHealthyOwner(FakeOwner.status())
    #expect(well.code == 0, "\(well.output)")
    #expect(well.words.contains("ok key file \(scratch.file("elsewhere.key")) (0600)\n"), "\(well.output)")
    #expect(!well.output.contains("state/vault.key") && !well.output.contains(".vaults"))
    #expect(chmod(scratch.file("elsewhere.key"), 0o644) == 0)
    let open = try CommandRun(["doctor", "--no-start"], in: scratch)
    #expect(open.code == 7 && open.output.contains("chmod 600 \(scratch.file("elsewhere.key"))"), "\(open.output)")
  }

  @Test(arguments: [false, true])
  func `a key file that is gone is an error while its broker still runs`(locked: Bool) throws {
    try makeState()
    try makeDaemon()
    #expect(unlink(scratch.file("state/vault.key")) == 0)
    let run = try runOnHealthyOwner(FakeOwner.status(locked: locked))
    #expect(run.code == 7)
    #expect(run.words.contains("error key file \(scratch.file("state/vault.key")) is not there"), "\(run.output)")
    #expect(run.output.contains(" rekey\n") == !locked)
  }

  @Test func `a vault that is removed under its broker is an error`() throws {
    try makeState()
    try makeDaemon()
    #expect(unlink(scratch.file("state/vault.sqlite")) == 0)
    let run = try runOnHealthyOwner(FakeOwner.status())
    #expect(run.code == 7)
    let line = "error vault \(scratch.file("state/vault.sqlite")) is not there, though"
    #expect(run.words.contains(line), "\(run.output)")
  }

  @Test(arguments: [true, false])
  func `a key file that the vault does not use is told of, and none is missed`(isThere: Bool) throws {
    try makeState()
    try makeDaemon()
    if !isThere { #expect(unlink(scratch.file("state/vault.key")) == 0) }
    let run = try runOnHealthyOwner(FakeOwner.status(source: "passphrase"))
    #expect(run.code == 0 && run.output.contains("state/vault.key is not used") == isThere, "\(run.output)")
    #expect(run.output.contains("key file") == isThere)
  }
}
