import Glibc
import TestSupport
import Testing

@testable import authbroker

/// `reload`, and the command that is named where a configuration has changed.
@Suite(.standardTimeLimit) struct ReloadCommandTests {
  private let scratch = Scratch()

  @Test func `the broker that runs reads its configuration, and its profiles are named`() throws {
    let owner = try FakeOwner(in: scratch) { _, _ in #""result":{"profiles":["default","work"]}"# }
    let run = try CommandRun(["reload"], in: scratch)
    #expect(run.code == 0 && run.output.isEmpty)
    #expect(run.errors == "authbroker: the broker has read its configuration (profiles: default, work)\n")
    let json = try CommandRun(["reload", "--json"], in: scratch)
    #expect(json.code == 0 && json.output == "{\"profiles\":[\"default\",\"work\"]}\n", "\(json.output)")
    #expect(owner.requests == ["reloadConfig {}", "reloadConfig {}"])
  }

  /// A daemon that gives its verdict on the configuration, and does nothing else.
  private func daemon(_ verdict: String, _ code: Int) throws {
    try scratch.write("#!/bin/sh\nprintf '%s\\n' '\(verdict)'\nexit \(code)\n", to: "daemon")
    #expect(chmod(scratch.file("daemon"), 0o700) == 0)
  }

  @Test func `where none runs, none is started, and the file is checked`() throws {
    try daemon(#"{"ok":true,"profiles":["default","work"]}"#, 0)
    let run = try CommandRun(["reload"], in: scratch)
    #expect(run.code == 0 && run.output.isEmpty)
    #expect(
      run.errors == "authbroker: no broker is running; the next one reads the configuration, which is valid\n")
    #expect(try CommandRun(["reload", "--json"], in: scratch).output == "{\"profiles\":[\"default\",\"work\"]}\n")
    #expect(!scratch.names.contains("state"))
  }

  @Test(arguments: [["reload"], ["profile", "use", "work"]])
  func `where none runs, a mistake in the file is a failure as of config check`(_ words: [String]) throws {
    try daemon(#"{"ok":false,"message":"/c.json:2:3: unknown key \"profils\""}"#, 1)
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 1 && run.output.isEmpty)
    #expect(run.errors.hasPrefix("authbroker: /c.json:2:3: unknown key \"profils\"; see: authbroker "), "\(run.errors)")
    #expect(run.errors.hasSuffix(" config check\n"))
    let json = try CommandRun(words + ["--json"], in: scratch)
    #expect(json.code == 1 && json.output.contains(#""kind":"configInvalid""#), "\(json.output)")
    #expect(!scratch.names.contains("home"))
  }

  @Test func `where none runs and there is no daemon to check the file, reload has not succeeded`() throws {
    #expect(try CommandRun(["reload"], in: scratch).code == 8)
  }

  @Test func `a mistake in the file is told as the broker tells it`() throws {
    let text = "config.json:2:3: unknown key; the old configuration stays."
    let owner = try FakeOwner(in: scratch) { _, _ in FakeOwner.refusal(1085, "configInvalid", text) }
    let run = try CommandRun(["reload"], in: scratch)
    #expect(run.code == 1 && run.errors.contains("config.json:2:3: unknown key"), "\(run.errors)")
    #expect(owner.requests.count == 1)
  }
}
