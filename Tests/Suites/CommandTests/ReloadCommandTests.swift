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

  @Test func `where none runs, none is started, and that is no failure`() throws {
    let run = try CommandRun(["reload"], in: scratch)
    #expect(run.code == 0 && run.errors == "authbroker: no broker is running; the next one reads the configuration\n")
    #expect(try CommandRun(["reload", "--json"], in: scratch).output == "{\"profiles\":[]}\n")
    #expect(!scratch.names.contains("state"))
  }

  @Test func `a mistake in the file is told as the broker tells it`() throws {
    let text = "config.json:2:3: unknown key; the old configuration stays."
    let owner = try FakeOwner(in: scratch) { _, _ in FakeOwner.refusal(1085, "configInvalid", text) }
    let run = try CommandRun(["reload"], in: scratch)
    #expect(run.code == 1 && run.errors.contains("config.json:2:3: unknown key"), "\(run.errors)")
    #expect(owner.requests.count == 1)
  }
}
