import LinuxSystem
import TestSupport
import Testing

/// What the README says is run as it stands.
@Suite(.standardTimeLimit) struct ReadmeTests {
  /// A fenced block behind `<!-- run: NAME -->`.
  struct Example: Sendable {
    let name: String
    let language: Substring
    let text: String

    /// All of them, in order.
    static func all() throws -> [Example] {
      let readme = String(decoding: try Directory.bytes(of: BuiltPrograms.repository + "/README.md"), as: UTF8.self)
      return try readme.split(separator: "<!-- run: ").dropFirst().map { part in
        let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
        let name = lines[0].replacing(" -->", with: "")
        guard lines.count > 1, lines[1].hasPrefix("```"), let end = lines.dropFirst(2).firstIndex(of: "```") else {
          throw TestFailure("there is no fenced block behind: run: \(name)")
        }
        let text = lines[2..<end].joined(separator: "\n") + "\n"
        return Example(name: String(name), language: lines[1].dropFirst(3), text: text)
      }
    }
  }

  @Test func `every marked example works, one after the other, in an empty home`() async throws {
    let examples = try Example.all()
    #expect(examples.count >= 3, "the README has examples for an account, a script and a subscriber")
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
      throw TestFailure("python3 is missing, so that an example of the README was not run; install it")
    }
    return path
  }
}
