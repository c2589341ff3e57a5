import TestSupport
import Testing

@testable import authbroker

/// The help of every command: its width, and its examples.
@Suite(.standardTimeLimit) struct HelpTests {
  private static var commands: [CommandEntry] { CommandList.withMembers + CommandList.hidden }

  /// The calls of the program in a line of a shell, each as its words: up to a pipe, a redirection or a bracket.
  private static func calls(in line: String) -> [[String]] {
    var (words, word, quote) = ([""], "", Character?.none)
    for character in line + " " {
      switch (character, quote) {
      case ("'", nil): quote = "'"
      case ("'", "'"): quote = nil
      case (_, "'"): word.append(character)
      case (" ", _), ("|", _), ("(", _), (")", _), ("<", _), (">", _):
        words.append(word)
        if character != " " { words.append(String(character)) }
        word = ""
      default: word.append(character)
      }
    }
    words.removeAll { $0.isEmpty }
    let ends: Set = ["|", "(", ")", "<", ">"]
    return words.indices.filter { words[$0] == "authbroker" }.map { start in
      Array(words[(start + 1)...].prefix { !ends.contains($0) })
    }
  }

  @Test func `no line is wider than 80 columns`() {
    let texts = Self.commands.map { ($0.description.name, $0.description.help) }
    for (name, text) in texts + [("help", HelpText.overview), ("start", HelpText.start)] {
      for line in text.split(separator: "\n") { #expect(line.count <= HelpText.width, "\(name): \(line)") }
    }
  }

  @Test func `no command has an option of its own in the place of one that all have`() {
    for command in Self.commands {
      let names = command.description.options.map(\.name)
      #expect(Set(names).isDisjoint(with: Option.global.map(\.name)), "\(command.description.name): \(names)")
      #expect(Set(names).count == names.count, "\(command.description.name): \(names)")
    }
  }

  @Test func `options that end at the first operand stand in front of it in the usage line`() {
    let usage = "usage: authbroker exec [options] -- PROGRAM [ARGUMENT...]\n"
    #expect(ExecCommand.description.help.hasPrefix(usage))
  }

  @Test func `every command has an example that calls it, with options and operands that it takes`() throws {
    for command in Self.commands {
      let description = command.description
      #expect(!description.examples.isEmpty, "\(description.name)")
      for example in description.examples {
        let calls = Self.calls(in: example)
        #expect(!calls.isEmpty, "\(example)")
        var names: [String] = []
        for words in calls {
          let (parsed, arguments) = try CommandLineProgram.parse(words)
          names.append(parsed.description.name)
          #expect(parsed.description.operandRange?.contains(arguments.operands.count) ?? true, "\(example)")
          _ = try arguments.profile()
        }
        let isMember = command.group != nil && names.contains { $0.hasPrefix(description.name + " ") }
        #expect(names.contains(description.name) || isMember || example == "authbroker -V", "\(example): \(names)")
        #expect(description.help.contains("\n  \(example)\n"))
      }
    }
  }

  @Test func `the bare command says where to begin, and each line of it is a call`() throws {
    let run = try CommandRun([], in: Scratch())
    #expect(run.code == 0 && run.output == HelpText.start && run.errors.isEmpty, "\(run.output)\(run.errors)")
    for words in ["authbroker register", "authbroker init", "authbroker token", "authbroker help"] {
      #expect(run.output.contains("  \(words) "), "\(words)")
    }
    // It is no list of everything.
    #expect(run.output.split(separator: "\n").count < 30)
    #expect(try CommandRun(["--help"], in: Scratch()).output == HelpText.overview)
  }

  @Test func `paragraphs are filled, and what is indented stays`() {
    let long = Array(repeating: "word", count: 40).joined(separator: " ")
    let text = HelpText.wrapped("\(long)\n\n  kept   as it is\nafter")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 7 && lines.allSatisfy { $0.count <= 80 }, "\(text)")
    #expect(lines[4] == "  kept   as it is" && lines[5] == "after", "\(text)")
  }
}
