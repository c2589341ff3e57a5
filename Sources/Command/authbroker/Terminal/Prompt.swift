import LinuxSystem
import StateDirectory

/// Questions whose answers are no secret.
enum Prompt {
  /// The value of an option, or what a person answers.
  ///
  /// - Throws: a usage failure if no person can be asked.
  static func answer(_ option: String, _ question: String, _ context: Context) throws(CommandFailure) -> String {
    if let value = context.arguments[option] { return value }
    guard context.canAsk else { throw .usage("there is no terminal to ask at; give \(option)") }
    return try ask(question)
  }

  /// Asks a person, again after an empty line.
  ///
  /// - Throws: a failure at the end of the input.
  static func ask(_ question: String) throws(CommandFailure) -> String {
    while true {
      if let answer = try askOnce(question) { return answer }
    }
  }

  /// Asks a person for another value; an empty line keeps the present one.
  static func ask(_ question: String, keeping present: String) throws(CommandFailure) -> String {
    try askOnce("\(question) [\(PlainText.line(present.utf8))]") ?? present
  }

  /// Asks a person; nil for an empty line.
  ///
  /// - Throws: a failure at the end of the input.
  static func askOnce(_ question: String) throws(CommandFailure) -> String? {
    let answer: String
    do throws(Terminal.Refusal) { answer = try Terminal.readVisibleLine(prompt: question + ": ") } catch {
      throw CommandFailure(.failure, "nothing was entered: the input has ended")
    }
    return answer.isEmpty ? nil : answer
  }
}
