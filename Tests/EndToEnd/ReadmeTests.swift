import LinuxSystem
import TestSupport
import Testing

/// What the README and the guides say is run as it stands.
@Suite(.standardTimeLimit) struct ReadmeTests {
  /// A fenced block behind `<!-- run: NAME -->`.
  struct Example: Sendable {
    let name: String
    let language: Substring
    let text: String

    /// The pages that have examples, in the order in which a reader comes to them: later examples need the earlier ones.
    private static let pages =
      ["README.md"]
      + ["Cookbook", "VaultAndKeys", "Diagnosis"].map { "Sources/Command/authbroker/AuthBroker.docc/Guides/\($0).md" }

    /// All of them, in order.
    static func all() throws -> [Example] { try pages.flatMap(all(of:)) }

    private static func all(of page: String) throws -> [Example] {
      let text = String(decoding: try Directory.bytes(of: BuiltPrograms.repository + "/" + page), as: UTF8.self)
      return try text.split(separator: "<!-- run: ").dropFirst().map { part in
        let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
        let name = lines[0].replacing(" -->", with: "")
        guard lines.count > 1, lines[1].hasPrefix("```"), let end = lines.dropFirst(2).firstIndex(of: "```") else {
          throw TestFailure("\(page): there is no fenced block after: run: \(name)")
        }
        let code = lines[2..<end].joined(separator: "\n") + "\n"
        return Example(name: String(name), language: lines[1].dropFirst(3), text: code)
      }
    }
  }

  @Test func `every marked example works, one after the other, in an empty home`() async throws {
    let examples = try Example.all()
    let names = ["account", "script", "subscriber", "python", "lock", "doctor"]
    #expect(examples.map(\.name) == names, "the README and the guides have these examples")
    try await Sandbox.run { sandbox in
      for example in examples {
        let file = sandbox.root + "/example-" + example.name
        try Directory.write(example.text, to: file)
        let outcome: Sandbox.Outcome
        switch example.language {
        case "sh": outcome = try sandbox.run("/bin/sh", ["-eu", file])
        case "python": outcome = try sandbox.run(Self.python(), [file])
        default: throw TestFailure("\(example.name): nobody knows how to run \(example.language)")
        }
        #expect(outcome.code == 0, "\(example.name): \(outcome.output)\(outcome.errors)")
      }
      let stop = try sandbox.run(BuiltPrograms.command, ["stop"])
      #expect(stop.code == 0, "\(stop.errors)")
    }
  }

  /// Python, without which the test fails: nothing is left out silently.
  private static func python() throws -> String {
    let places = ["/usr/bin/python3", "/usr/local/bin/python3"]
    guard let path = places.first(where: { (try? FileStatus.following($0)) != nil }) else {
      throw TestFailure("python3 is missing, so that an example of the documents was not run; install it")
    }
    return path
  }
}
