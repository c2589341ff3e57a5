import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

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

  @Test func `a key file that is gone is told where no broker can start without it`() throws {
    try makeState()
    let key = scratch.file("state/vault.key")
    try makeDaemon(verdict: verdict(keyFile: key))
    #expect(unlink(key) == 0)
    let line = "key file \(key) is not there, and by the configuration"
    let failed = try CommandRun(["doctor"], in: scratch)
    #expect(failed.code == 7 && failed.words.contains("error " + line), "\(failed.output)")
    let absent = try CommandRun(["doctor", "--no-start"], in: scratch)
    #expect(absent.words.contains("warning " + line), "\(absent.output)")
    try makeDaemon(verdict: verdict(keySource: "passphrase", keyFile: key))
    #expect(!(try CommandRun(["doctor", "--no-start"], in: scratch)).output.contains("by the configuration"))
  }

  @Test func `a configuration in a wrong place is noticed`() throws {
    try makeState()
    try makeDaemon()
    _ = try PrivateDirectory(scratch.file(".config/authbroker"), create: true)
    try scratch.write("{}", to: ".config/authbroker/config.json")
    try scratch.write("{}", to: "state/config.json")
    let environment = ["HOME": scratch.path, "XDG_CONFIG_HOME": scratch.file("elsewhere")]
    let run = try CommandRun(["doctor", "--no-start"], in: scratch, environment: environment)
    for place in [".config/authbroker/config.json", "state/config.json"] {
      let line = "warning configuration \(scratch.file(place)) is not read; move it to"
      #expect(run.words.contains(line), "\(run.output)")
    }
    let usual = ["HOME": scratch.path, "XDG_CONFIG_HOME": scratch.file(".config")]
    let used = try CommandRun(["doctor", "--no-start"], in: scratch, environment: usual)
    #expect(!used.output.contains(".config/authbroker/config.json is not read"), "\(used.output)")
    #expect(
      used.words.contains("note configuration \(scratch.file("state/config.json")) is not read"), "\(used.output)")
  }

  @Test func `root is told of a home that is not there, and of another user's`() throws {
    #expect(RootHome.sentence("/proc/nonexistent/home")?.contains("is not there") == true)
    guard geteuid() == 0 else { return }
    #expect(RootHome.sentence(scratch.path) == nil)
    #expect(chown(scratch.path, 12345, 12345) == 0)
    defer { _ = chown(scratch.path, 0, 0) }
    #expect(RootHome.sentence(scratch.path)?.contains("you are root, and HOME is another user's") == true)
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
