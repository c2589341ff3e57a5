import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Tools' files that nothing may be written to.
@Suite(.standardTimeLimit) struct SetupFileTests {
  private let scratch = Scratch()

  private var setup: SetupContext {
    SetupContext(environment: ["PATH": "/usr/bin:/bin"], home: scratch.path, program: scratch.file("authbroker"))
  }

  private func text(_ name: String) throws -> String { String(decoding: try scratch.bytes(of: name), as: UTF8.self) }

  @Test func `a line of the user's between the marks is not removed`() throws {
    #expect(try BlockStep(file: scratch.file("f"), lines: ["one", "two"]).install(setup))
    let changed = try text("f").replacing("two\n", with: "two\nmine\n")
    try scratch.write(changed, to: "f")
    for undo in [true, false] {
      #expect {
        _ =
          undo
          ? try BlockStep(file: scratch.file("f"), lines: ["one", "two"]).remove(setup)
          : try BlockStep(file: scratch.file("f"), lines: ["three"]).install(setup)
      } throws: {
        ($0 as? CommandFailure)?.message.sentence.contains("has 3 lines where 2 were made") ?? false
      }
    }
    #expect(try text("f") == changed)
  }

  @Test func `a line that had no end has none again`() throws {
    try scratch.write("mine", to: "f")
    let step = BlockStep(file: scratch.file("f"), lines: ["one"])
    #expect(try step.install(setup) && step.remove(setup))
    #expect(try text("f") == "mine")
    // What is appended since begins a line of its own.
    #expect(try step.install(setup))
    try scratch.write(try text("f") + "more", to: "f")
    #expect(try step.remove(setup))
    #expect(try text("f") == "mine\nmore")
    // As an older version wrote it.
    try scratch.write("# authbroker: begin (made by authbroker helper install)\nx\n# authbroker: end\n", to: "f")
    #expect(try step.remove(setup) && !scratch.names(in: "").contains("f"))
  }

  private func steps(_ name: String) -> [any SetupStep] {
    [
      JSONMemberStep(file: scratch.file(name), group: "g", name: "n", value: "v"),
      BlockStep(file: scratch.file(name), lines: ["one"]),
    ]
  }

  @Test func `a FIFO is neither waited for nor replaced`() throws {
    try #require(try ToolRun("/usr/bin/mkfifo", [scratch.file("f")], environment: [:]).code == 0)
    for step in steps("f") {
      #expect {
        try step.install(setup)
      } throws: {
        ($0 as? CommandFailure)?.message.sentence.contains("is not a regular file") ?? false
      }
      #expect(throws: CommandFailure.self) { try step.remove(setup) }
      #expect((try? FileStatus.ofLink(scratch.file("f")))?.kind == .pipe)
    }
    let found =
      BlockStep.installed(in: scratch.file("f"))
      + JSONMemberStep.installed(in: scratch.file("f"), group: "g", value: "v")
    #expect(found.count == 2)
    for step in found { #expect(throws: CommandFailure.self) { try step.remove(setup) } }
  }

  @Test(arguments: [".gitconfig", ".config/git/config"])
  func `git is not made to wait at a FIFO, and its removal is no success`(_ name: String) throws {
    let path = scratch.file(name)
    try DirectoryEntry.makeDirectories(PathName.directory(of: path))
    try #require(try ToolRun("/usr/bin/mkfifo", [path], environment: [:]).code == 0)
    let step = GitHelperStep(url: "https://git.example.com", program: "/x/git-credential-authbroker", usesPath: false)
    let began = BootClock.now
    #expect(step.state(setup) == .blocked("\(path) is not a regular file"))
    for found in GitHelperStep.installed(setup) + [step] {
      for undo in [true, false] {
        #expect {
          _ = undo ? try found.remove(setup) : try found.install(setup)
        } throws: {
          ($0 as? CommandFailure)?.message.sentence == "\(path) is not a regular file"
        }
      }
    }
    #expect(GitHelperStep.installed(setup).count == 1 && GitConfiguration.otherHelpers(setup).isEmpty)
    #expect(BootClock.now - began < ToolRun.limit)
  }

  @Test(.enabled(if: ProcessIdentity.user == 0, "only root gives a directory away"))
  func `nothing is put into another user's directory that everyone can write to`() throws {
    let directory = scratch.file("d")
    try DirectoryEntry.makeDirectories(directory)
    try #require(try ToolRun("/bin/chmod", ["777", directory], environment: [:]).code == 0)
    let link = LinkStep(name: "git-credential-authbroker", directory: directory)
    // The user's own one is the user's own affair.
    for step in steps("d/own") { #expect(try step.install(setup) && step.remove(setup)) }
    try #require(try ToolRun("/bin/chown", ["65534", directory], environment: [:]).code == 0)
    for step in steps("d/f") + steps("d/new/f") + [link] {
      #expect {
        try step.install(setup)
      } throws: {
        ($0 as? CommandFailure)?.message.sentence.hasPrefix("\(directory) belongs to user 65534, who could ch") ?? false
      }
    }
    #expect(scratch.names(in: "d").isEmpty)
  }

  @Test(.enabled(if: ProcessIdentity.user == 0, "only root gives a file away"))
  func `a file of another user is not replaced`() throws {
    try scratch.write("{}", to: "f")
    try #require(try ToolRun("/bin/chown", ["65534", scratch.file("f")], environment: [:]).code == 0)
    for step in steps("f") {
      #expect {
        try step.install(setup)
      } throws: {
        ($0 as? CommandFailure)?.message.sentence.contains("belongs to user 65534, not to you") ?? false
      }
    }
    #expect(try text("f") == "{}")
  }

  @Test(
    arguments: [
      (ToolSyntax.toml, "[a]\nb = 1\n\n# c\n[[d]]\nx.'y=' = \"a # \\\" b\" # c\nl = [\n  1, # ]\n]\n", nil),
      (.toml, "s = '''\n[\n'''\r\n", nil),
      (.toml, "[target.'cfg(a = \"]\")']\nx = { y = 1 }\n", nil), (.toml, "a = 1\n[b\nc = 1\n", 2), (.toml, "a =\n", 1),
      (.toml, "a = \"b\n", 1), (.toml, "a = 1\nb = [\n1\n", 2), (.toml, "x\n", 1), (.toml, "a = 1]\n", 1),
      (.toml, "<<<<<<< HEAD\na = 1\n", 1), (.toml, "a = \"\"\"\nb\n", 1), (.ini, "; x\n[a]\nb = c\n d\n", nil),
      (.ini, "[a\n", 1), (.ini, "[a]\nb\n", 2), (.blocks, "a \"b\" {\n  c = [\"}\"]\n}\n", nil), (.blocks, "a {\n", 1),
      (.blocks, "}\n", 1), (.blocks, "// }\na { // {\n}\n/* }\n\" { */ b { /* [ */ }\n", nil),
      (.blocks, "a = 1 /* {\n", 1), (.blocks, "a = \"//\" }\n", 1), (.blocks, "/* a */ }\n", 1),
      (.toml, "a = \"\"\"b\"\"\"\"\nc = \"\"\"\"\"\"\nd = '''e'''''\n", nil),
      (.toml, "a = \"\"\"b\\\"\"\"]\n\"\"\"\n", nil), (.toml, "a = '''b\\'''\n", nil),
      (.toml, "a = \"\"\"b\\\"\"\"\n", 1), (.toml, "a = \"\"\"b\"\"\"]\n", 1), (.toml, "a = \"\"\"\\\n b\"\"\"\n", nil),
      (.lines, "]]] \"", nil), (.toml, "", nil),
    ] as [(ToolSyntax, String, Int?)])
  func `nothing is added to a broken file`(syntax: ToolSyntax, text: String, line: Int?) throws {
    #expect(syntax.fault(in: Array(text.utf8)) == line)
    guard let line else { return }
    try scratch.write(text, to: "f")
    #expect {
      try BlockStep(file: scratch.file("f"), lines: ["z = 1"], syntax: syntax).install(setup)
    } throws: {
      ($0 as? CommandFailure)?.message.sentence.contains("line \(line) of ") ?? false
    }
    #expect(try self.text("f") == text)
  }

  @Test func `a file that cannot be read is told once, whatever would be added to it`() throws {
    try scratch.write(
      #"{ "profiles": { "default": { "provider": "local" } }, "targets": { "https://a.example.com": "default", "#
        + #""https://b.example.com": "default" } }"#, to: "c.json")
    _ = try PrivateDirectory(scratch.file("home") + "/.docker", create: true)
    try scratch.write("{ broken", to: "home/.docker/config.json")
    let owner = try FakeOwner(in: scratch) { _, _ in
      let targets = ["a", "b"].map { #"{"url":"https://\#($0).example.com","profile":"default"}"# }
      return #""result":{"targets":[\#(targets.joined(separator: ","))]}"#
    }
    let run = try CommandRun(["helper", "install", "docker"], in: scratch)
    #expect(run.code == 1, "\(run.errors)")
    #expect(run.errors.split(separator: "is not a JSON object").count == 2, "\(run.errors)")
    #expect(run.output.contains("a.example.com") && run.output.contains("b.example.com"), "\(run.output)")
    #expect(!owner.requests.isEmpty)
    let json = try CommandRun(["helper", "install", "docker", "--json"], in: scratch)
    let start = #"{"tool":"docker","state":"not installed","byHand":["#
    #expect(json.code == 1 && json.output.hasPrefix(start) && json.output.contains("a.example.com"), "\(json.output)")
  }
}
