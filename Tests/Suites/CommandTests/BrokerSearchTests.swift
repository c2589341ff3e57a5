import ClientSocket
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// What is said where a broker cannot be found or started.
@Suite(.standardTimeLimit) struct BrokerSearchTests {
  private let scratch = Scratch()

  @Test func `a program that is no daemon is named`() throws {
    try scratch.write("#!/bin/sh\n", to: "daemon")
    #expect(chmod(scratch.file("daemon"), 0o700) == 0)
    let run = try CommandRun(["status"], in: scratch)
    #expect(run.code == 8 && run.errors.contains("\(scratch.file("daemon")) said nothing"), "\(run.errors)")
  }

  @Test func `a socket's path that is too long is measured`() throws {
    let socket = "/" + String(repeating: "s", count: 173)
    let run = try CommandRun(["--socket", socket, "status"], in: scratch)
    #expect(run.code == 8, "\(run.errors)")
    let sentence = "has 173 bytes, at most 82 fit; choose a shorter one with --socket\n"
    #expect(run.errors.hasSuffix(sentence), "\(run.errors)")
  }

  @Test func `a state directory that cannot be written to is named, and no socket`() throws {
    // Whatever the user's rights are: a directory is no lock.
    _ = try PrivateDirectory(scratch.file("state"), create: true)
    #expect(mkdir(scratch.file("state/start.lock"), 0o700) == 0)
    let run = try CommandRun(["status"], in: scratch)
    #expect(run.code == 1, "\(run.errors)")
    #expect(run.errors.contains("start.lock cannot be locked: ") && !run.errors.contains("socket"), "\(run.errors)")
    let readOnly = ConnectError.startLock(.failed("/s/start.lock", Errno(code: EROFS))).reason
    #expect(readOnly.contains("the file system is read-only"), "\(readOnly)")
  }

  @Test func `a daemon that has no descriptor left is not looked for elsewhere`() {
    let scarce = ConnectError.noDaemon(path: "/d", Errno(code: EMFILE)).description
    #expect(scarce.hasSuffix("raise the limit of open files (ulimit -n)"), "\(scarce)")
    let missing = ConnectError.noDaemon(path: "/d", .noEntry).description
    #expect(missing.hasSuffix("set AUTHBROKER_DAEMON to where it is"), "\(missing)")
  }

  @Test(arguments: ["--state", "--socket", "--config"])
  func `a path that is empty is refused and none taken in its place`(option: String) throws {
    let run = try CommandRun([option, "", "status", "--no-start"], in: scratch)
    #expect(run.code == 2, "\(run.errors)")
    #expect(run.errors.hasPrefix("authbroker: \(option) is empty; name a path, or leave it out"), "\(run.errors)")
  }

  @Test func `a file of config check that is empty is refused by the command itself`() throws {
    let run = try CommandRun(["config", "check", ""], in: scratch)
    #expect(run.code == 2 && run.errors.hasPrefix("authbroker: FILE is empty"), "\(run.errors)")
  }

  @Test func `no byte of an argument controls the terminal`() throws {
    for words in [
      ["\u{1B}[2Jx"], ["token", "--timeout", "\u{1B}]0;x\u{7}"], ["status", "--\u{1B}[2J"],
      ["status", "--no-start", "--state", "/none\u{1B}[31m"],
    ] {
      let run = try CommandRun(words, in: scratch)
      #expect(run.code != 0 && !run.errors.isEmpty)
      #expect(!run.errors.utf8.contains(0x1B) && !run.errors.utf8.contains(0x07), "\(run.errors)")
    }
  }

  @Test func `only a directory of one's own is to be closed, and its path is one word of a shell`() {
    let shared = PrivateDirectory.Refusal.openToOthers("/tmp", permissions: 0o1777).description
    #expect(shared.contains("choose a directory that is yours alone") && !shared.contains("chmod"), "\(shared)")
    let own = PrivateDirectory.Refusal.openToOthers("/x/it's a", permissions: 0o755).description
    #expect(own.hasSuffix(#"run: chmod 700 '/x/it'\''s a'"#), "\(own)")
  }

  @Test func `a duration that is too long is told the bound`() throws {
    let run = try CommandRun(["token", "--timeout", "99999999999"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("from 0 to 315360000, not 99999999999"), "\(run.errors)")
  }
}
