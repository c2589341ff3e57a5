import TestSupport
import Testing

@testable import authbroker

/// Entries in other programs' files.
@Suite(.standardTimeLimit) struct SetupStepTests {
  private let scratch = Scratch()

  private var scene: SetupScene {
    SetupScene(environment: ["PATH": "/usr/bin:/bin"], home: scratch.path, program: scratch.file("authbroker"))
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
      #expect(step.state(scene) == .missing)
      #expect(try step.install(scene))
      #expect(try !step.install(scene))
      #expect(step.state(scene) == .installed)
    }
    for step in steps { #expect(try step.remove(scene)) }
    for step in steps { #expect(try !step.remove(scene)) }
    // An empty group is as good as none.
    let expected = before == "{\"credHelpers\":{}}" ? "{}" : before
    #expect(try text("f") == expected)
  }

  @Test func `a file that is not there is made, and the file behind a link is written`() throws {
    let step = JSONMemberStep(file: scratch.file("d/f"), group: "credHelpers", name: "r", value: "authbroker")
    #expect(try step.install(scene))
    #expect(try text("d/f") == "{\n\t\"credHelpers\": {\n\t\t\"r\": \"authbroker\"\n\t}\n}\n")
    #expect(try step.remove(scene))
  }

  @Test func `lines are replaced between their marks, and marks without an end are left alone`() throws {
    try scratch.write("mine", to: "f")
    let file = scratch.file("f")
    #expect(try BlockStep(file: file, lines: ["one"]).install(scene))
    #expect(try BlockStep(file: file, lines: ["two"]).install(scene))
    #expect(try text("f").hasPrefix("mine\n# authbroker: begin"))
    #expect(try !text("f").contains("one") && text("f").contains("\ntwo\n# authbroker: end\n"))
    #expect(try BlockStep(file: file, lines: ["two"]).remove(scene))
    #expect(try text("f") == "mine\n")
    try scratch.write("# authbroker: begin (made by authbroker helper install)\nx\n", to: "f")
    #expect(throws: CommandFailure.self) { try BlockStep(file: file, lines: ["two"]).install(scene) }
  }

  @Test func `lines that end in two bytes are lines, and stay as they are`() throws {
    let step = BlockStep(file: scratch.file("f"), lines: ["one"], conflicts: ["[registry]", "registry="])
    try scratch.write("a\r\nb\r\n", to: "f")
    #expect(try step.install(scene) && step.state(scene) == .installed)
    // As an editor saves it that knows one kind of line's end.
    let installed = try text("f").replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
    try scratch.write(installed, to: "f")
    #expect(try step.install(scene))
    #expect(try text("f").components(of: "authbroker: begin") == 1)
    #expect(try step.remove(scene))
    #expect(try text("f") == "a\r\nb\r\n")
  }

  @Test(arguments: ["[registry]", "[ registry ]", "[\"registry\"]", "['registry']", "registry = {}", "\tregistry={}"])
  func `a table of the user's is found however it is written`(line: String) throws {
    let step = BlockStep(file: scratch.file("f"), lines: ["one"], conflicts: ["[registry]", "registry="])
    for end in ["\n", "\r\n"] {
      try scratch.write("[build]\(end)\(line)\(end)default = 1\(end)", to: "f")
      #expect(throws: CommandFailure.self) { try step.install(scene) }
      #expect(try text("f") == "[build]\(end)\(line)\(end)default = 1\(end)")
    }
  }

  @Test func `a word that begins a line of the user's is a conflict`() throws {
    try scratch.write("  credentials_helper \"other\" {}\n", to: "f")
    let step = BlockStep(file: scratch.file("f"), lines: ["x"], conflicts: ["credentials_helper"])
    #expect(throws: CommandFailure.self) { try step.install(scene) }
    #expect(step.state(scene) == .blocked("\(scratch.file("f")) has an entry credentials_helper of its own"))
  }

  @Test func `a link is made for this program alone`() throws {
    try scratch.write("", to: "authbroker")
    let step = LinkStep(name: "git-credential-authbroker", directory: scratch.file("bin"))
    #expect(try step.install(scene) && step.state(scene) == .installed)
    #expect(try !step.install(scene))
    #expect(try step.remove(scene) && step.state(scene) == .missing)
    try scratch.write("", to: "bin/git-credential-authbroker")
    #expect(throws: CommandFailure.self) { try step.install(scene) }
    #expect(try !step.remove(scene))
    #expect(scratch.names(in: "bin") == ["git-credential-authbroker"])
  }

  @Test func `every tool has a name and a line of its own`() {
    let tools = ToolSetup.all
    #expect(Set(tools.map(\.name)).count == tools.count && Set(tools.map(\.summary)).count == tools.count)
  }
}

extension String {
  /// How often a text is in this one.
  fileprivate func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
