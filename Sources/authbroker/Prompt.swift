import LinuxSystem

/// Questions whose answers are no secret.
enum Prompt {
  /// The value of an option, or what a person answers.
  ///
  /// - Throws: a usage failure if no person can be asked.
  static func answer(_ option: String, _ question: String, _ context: Context) throws(CommandFailure) -> String {
    if let value = context.arguments[option] { return value }
    guard context.canAsk else { throw .usage("there is no terminal to ask at; give \(option)") }
    let answer: String
    do throws(Terminal.Refusal) { answer = try Terminal.readVisibleLine(prompt: question + ": ") } catch {
      throw CommandFailure(.failure, "nothing was entered; nothing was sent")
    }
    guard !answer.isEmpty else { throw CommandFailure(.failure, "nothing was entered; nothing was sent") }
    return answer
  }
}
