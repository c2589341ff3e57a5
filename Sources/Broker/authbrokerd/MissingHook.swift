import Configuration
import Hooks
import JSON
import LinuxSystem

/// A hook whose program could not be run, as the configuration stands: for the check of it, and the doctor.
struct MissingHook: JSONEncodable {
  /// The place of the hook in the list, from 1 on.
  let number: Int
  /// The program, as it is written.
  let program: String
  /// The fault, and the remedy.
  let problem: String

  /// The hooks of a configuration whose programs are not there, or may not be executed; the directories of `PATH` are
  /// those of this process.
  static func all(_ configuration: BrokerConfiguration, _ environment: [String: String]) -> [MissingHook] {
    configuration.hooks.enumerated().compactMap { index, hook in
      guard let program = hook.command.first, let problem = problem(of: program, environment) else { return nil }
      return MissingHook(number: index + 1, program: program, problem: problem)
    }
  }

  /// The fault of a program, and the remedy; nil where it can be run.
  static func problem(of program: String, _ environment: [String: String]) -> String? {
    let found = SearchPath.candidates(program, environment).compactMap { try? FileStatus.following($0) }
    if found.contains(where: \.isProgram) { return nil }
    return found.isEmpty
      ? "was not found; install it, or write its absolute path"
      : "may not be executed; run chmod +x on it, or name its interpreter"
  }

  /// One sentence.
  var sentence: String { "hook \(number): \(program) \(problem)" }

  func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("number", number)
      writer.member("program", program)
      writer.member("problem", problem)
    }
  }
}
