import BrokerProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Entries in other programs' files.
@Suite(.standardTimeLimit) struct SetupStepTests {
  private let scratch = Scratch()

  private var setup: SetupContext {
    SetupContext(environment: ["PATH": "/usr/bin:/bin"], home: scratch.path, program: scratch.file("authbroker"))
  }

  private func text(_ name: String) throws -> String { String(decoding: try scratch.bytes(of: name), as: UTF8.self) }

  @Test(arguments: [
    "{}", "{ }\n", "{\"a\":1}", "{\n  \"a\": {\"b\": \"}\"}\n}\n", "{\"credHelpers\":{}}",
    "{\"credHelpers\" : {\"x\":\"y\"} }",
    "{\n\t\"credHelpers\": {\n\t\t\"x\": \"y\"\n\t},\n\t\"z\": []\n}",
  ])
  func `a member is added and removed, and every other byte stays`(before: String) throws {
    try scratch.write(before, to: "f")
    let steps = ["r.example.com", "s.example.com"].map {
      JSONMemberStep(file: scratch.file("f"), group: "credHelpers", name: $0, value: "authbroker")
    }
    for step in steps {
      #expect(step.state(setup) == .missing)
      #expect(try step.install(setup))
      #expect(try !step.install(setup))
      #expect(step.state(setup) == .installed)
    }
    for step in steps { #expect(try step.remove(setup)) }
    for step in steps { #expect(try !step.remove(setup)) }
    #expect(try text("f") == before)
  }

  @Test func `a file that is not there is made, and the file behind a link is written`() throws {
    let step = JSONMemberStep(file: scratch.file("d/f"), group: "credHelpers", name: "r", value: "authbroker")
    #expect(try step.install(setup))
    #expect(try text("d/f") == "{\n\t\"credHelpers\": {\n\t\t\"r\": \"authbroker\"\n\t}\n}\n")
    #expect(try step.remove(setup) && scratch.names(in: "d").isEmpty)

    // A chain: an absolute link to a relative one, and that to the file.
    try scratch.write("{}", to: "d/real")
    try FileDescriptor.open(scratch.file("d/real"), .write).setPermissions(0o644)
    try SymbolicLink.make(scratch.file("d/second"), to: "../d/real")
    try SymbolicLink.make(scratch.file("first"), to: scratch.file("d/second"))
    let linked = JSONMemberStep(file: scratch.file("first"), group: "credHelpers", name: "r", value: "authbroker")
    #expect(try linked.install(setup))
    #expect(try text("d/real") == "{\"credHelpers\": { \"r\": \"authbroker\" }}")
    #expect(scratch.mode("d/real") == 0o644)
    #expect(SymbolicLink.target(of: scratch.file("first")) == scratch.file("d/second"))
    #expect(SymbolicLink.target(of: scratch.file("d/second")) == "../d/real")
    #expect(try linked.remove(setup))
    #expect(try text("d/real") == "{}")

    try SymbolicLink.make(scratch.file("circle"), to: "circle")
    #expect(throws: CommandFailure.self) { try ToolFile(path: scratch.file("circle")).write([]) }
  }

  @Test func `lines are replaced between their marks, and marks without an end are left alone`() throws {
    try scratch.write("mine", to: "f")
    let file = scratch.file("f")
    #expect(try BlockStep(file: file, lines: ["one"]).install(setup))
    #expect(try BlockStep(file: file, lines: ["two"]).install(setup))
    #expect(try text("f").hasPrefix("mine\n# authbroker: begin"))
    #expect(try !text("f").contains("one") && text("f").contains("\ntwo\n# authbroker: end of 1 line"))
    #expect(try BlockStep(file: file, lines: ["two"]).remove(setup))
    #expect(try text("f") == "mine")
    try scratch.write("# authbroker: begin (made by authbroker helper install)\nx\n", to: "f")
    #expect(throws: CommandFailure.self) { try BlockStep(file: file, lines: ["two"]).install(setup) }
  }

  @Test func `every entry of this program is found again, whatever it was made for`() throws {
    let file = scratch.file("f")
    for (label, line) in [("", "one"), ("work", "two"), ("other", "three")] {
      #expect(try BlockStep(file: file, label: label, lines: [line]).install(setup))
    }
    let blocks = try BlockStep.blocks(in: file)
    #expect(blocks.map(\.label) == ["", "work", "other"] && blocks.map(\.lines) == [["one"], ["two"], ["three"]])
    for block in blocks { #expect(block.state(setup) == .installed) }
    #expect(try blocks[1].remove(setup) && BlockStep.blocks(in: file).map(\.label) == ["", "other"])

    try scratch.write(#"{"credHelpers":{"a":"authbroker","b":"pass","c":"authbroker"}}"#, to: "j")
    let members = JSONMemberStep.installed(in: scratch.file("j"), group: "credHelpers", value: "authbroker")
    #expect(members.map(\.title) == ["a", "c"].map { "credHelpers for \($0) in \(scratch.file("j"))" })
    for member in members { #expect(try member.remove(setup)) }
    #expect(try text("j") == #"{"credHelpers":{"b":"pass"}}"#)
  }

  @Test func `everything is removed without a broker, also what is configured no longer`() throws {
    let home = scratch.file("home")
    _ = try PrivateDirectory(home + "/.docker", create: true)
    try scratch.write(#"{"credHelpers":{"gone.example.com":"authbroker","b":"pass"}}"#, to: "home/.docker/config.json")
    let git = "[user]\n\tname = Ada\n"
    let helper = "\thelper = \n\thelper = /x/git-credential-authbroker\n"
    let other = "[credential \"https://b.example\"]\n\thelper = store\n"
    try scratch.write(git + "[credential \"https://gone.example\"]\n\(helper)" + other, to: "home/.gitconfig")
    #expect(try BlockStep(file: home + "/.bazelrc", lines: ["common --credential_helper=gone=x"]).install(setup))
    for tool in ["docker", "git", "bazel"] {
      let run = try CommandRun(["helper", "remove", tool, "--no-start"], in: scratch)
      #expect(run.code == 0 && run.errors.contains("\(tool): removed"), "\(run.errors)")
    }
    #expect(try text("home/.docker/config.json") == #"{"credHelpers":{"b":"pass"}}"#)
    #expect(try text("home/.gitconfig") == git + other)
    #expect(!scratch.names(in: "home").contains(".bazelrc"))
  }

  @Test func `what was removed is an object with --json`() throws {
    _ = try PrivateDirectory(scratch.file("home"), create: true)
    let step = BlockStep(file: scratch.file("home/.bazelrc"), lines: ["common --credential_helper=gone=x"])
    #expect(try step.install(setup))
    for count in [1, 0] {
      let run = try CommandRun(["helper", "remove", "bazel", "--no-start", "--json"], in: scratch)
      let reason = count > 0 ? "" : ",\"reason\":\"nothing of authbroker's is in bazel's configuration\""
      let told = "{\"tool\":\"bazel\",\"removed\":\(count)\(reason)}\n"
      #expect(run.code == 0 && run.output == told, "\(run.output)\(run.errors)")
    }
  }

  @Test func `a file that its owner may not write is left alone`() throws {
    try scratch.write("{}", to: "f")
    try FileDescriptor.open(scratch.file("f"), .read).setPermissions(0o400)
    let steps: [any SetupStep] = [
      JSONMemberStep(file: scratch.file("f"), group: "g", name: "n", value: "v"),
      BlockStep(file: scratch.file("f"), lines: ["one"]),
    ]
    for step in steps {
      #expect { try step.install(setup) } throws: {
        ($0 as? CommandFailure)?.message.sentence.contains("is read-only") ?? false
      }
    }
    #expect(try text("f") == "{}" && scratch.mode("f") == 0o400)
  }

  @Test func `two that change a file at once wait for each other, and leave no other file`() throws {
    let file = ToolFile(path: scratch.file("d/f"))
    try file.exclusively(makingDirectory: true) { () throws(CommandFailure) in
      let arguments = ["-n", scratch.file("d"), "/bin/true"]
      let run = try ToolRun("/usr/bin/flock", arguments, environment: [:])
      #expect(run.code == 1)
    }
    #expect(scratch.names(in: "d").isEmpty)
  }

  @Test func `lines that end in two bytes are lines, and stay as they are`() throws {
    let step = BlockStep(file: scratch.file("f"), lines: ["one"], conflicts: ["[registry]", "registry="])
    try scratch.write("a\r\nb\r\n", to: "f")
    #expect(try step.install(setup) && step.state(setup) == .installed)
    // As an editor saves it that knows one kind of line's end.
    let installed = try text("f").replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
    try scratch.write(installed, to: "f")
    #expect(try !step.install(setup))
    #expect(try text("f").components(of: "authbroker: begin") == 1)
    #expect(try step.remove(setup))
    #expect(try text("f") == "a\r\nb\r\n")
  }

  @Test(arguments: ["[registry]", "[ registry ]", "[\"registry\"]", "['registry']", "registry = {}", "\tregistry={}"])
  func `a table of the user's is found however it is written`(line: String) throws {
    let step = BlockStep(file: scratch.file("f"), lines: ["one"], conflicts: ["[registry]", "registry="])
    for end in ["\n", "\r\n"] {
      try scratch.write("[build]\(end)\(line)\(end)default = 1\(end)", to: "f")
      #expect(throws: CommandFailure.self) { try step.install(setup) }
      #expect(try text("f") == "[build]\(end)\(line)\(end)default = 1\(end)")
    }
  }

  @Test func `a word that begins a line of the user's is a conflict`() throws {
    try scratch.write("  credentials_helper \"other\" {}\n", to: "f")
    let step = BlockStep(file: scratch.file("f"), lines: ["x"], conflicts: ["credentials_helper"])
    #expect(throws: CommandFailure.self) { try step.install(setup) }
    #expect(step.state(setup) == .blocked("\(scratch.file("f")) has an entry credentials_helper of its own"))
  }

  @Test func `a link is made for this program alone`() throws {
    try scratch.write("", to: "authbroker")
    let step = LinkStep(name: "git-credential-authbroker", directory: scratch.file("bin"))
    #expect(try step.install(setup) && step.state(setup) == .installed)
    #expect(try !step.install(setup))
    #expect(try step.remove(setup) && step.state(setup) == .missing)
    try scratch.write("", to: "bin/git-credential-authbroker")
    #expect(throws: CommandFailure.self) { try step.install(setup) }
    #expect(try !step.remove(setup))
    #expect(scratch.names(in: "bin") == ["git-credential-authbroker"])
  }
}

extension String {
  /// How often a text is in this one.
  func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
