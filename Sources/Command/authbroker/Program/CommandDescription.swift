/// The usage and help of a subcommand.
struct CommandDescription: Equatable, Sendable {
  /// The name on the command line.
  var name = ""
  /// The operands in the usage line.
  var operands = ""
  /// How many operands there may be, where the usage line does not say it.
  var operandCount: ClosedRange<Int>?
  /// One line for the list of commands, without a full stop.
  let summary: String
  /// Further lines of the help.
  var details = ""
  /// Its own options.
  var options: [Option] = []
  /// Whether the words behind the name are another tool's: none of them is an option of this program.
  var takesRawWords = false
  /// Whether the first operand begins another program's command line: no word behind it is an option of this program.
  var endsOptionsAtOperand = false
  /// The completion of the first operand; nil where the word that stands for it says so.
  var operandCompletion: Completion?
  /// Example command lines.
  var examples: [String] = []

  /// The usage line, without the options unless they must stand in front.
  var usage: String {
    let lead = ["authbroker", name, endsOptionsAtOperand ? "[options]" : "", operands]
    return lead.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// How many operands there may be: those in brackets can be left out, and one with points is any number of them.
  ///
  /// Nil where they are the business of another program, whose command line they are.
  var operandRange: ClosedRange<Int>? {
    guard !takesRawWords, !endsOptionsAtOperand else { return nil }
    let names = operandNames
    let most = names.contains { $0.hasSuffix("...]") } ? Int.max : names.count
    return operandCount ?? requiredOperands.count...most
  }

  /// The words for the operands that cannot be left out.
  var requiredOperands: [Substring] { operandNames.filter { !$0.hasPrefix("[") } }

  /// The word that must follow the name, such as `check`; nil where every operand is the user's choice.
  var subcommand: String? {
    operandNames.first.flatMap { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) } ? String($0) : nil }
  }

  /// The words for the operands in the usage line, without the `--` that ends options.
  var operandNames: [Substring] { operands.split(separator: " ").filter { $0 != "--" } }

  /// The completion of an operand, counted from 0.
  func completion(ofOperand index: Int) -> Completion {
    if index == 0, let operandCompletion { return operandCompletion }
    return operandNames.indices.contains(index) ? Completion(operand: operandNames[index]) : .none
  }

  /// The command's help.
  var help: String {
    var text =
      "usage: \(usage)\(options.isEmpty || endsOptionsAtOperand ? "" : " [options]")\n\n"
      + HelpText.wrapped(summary + ".")
    if !details.isEmpty { text += "\n" + HelpText.wrapped(details) }
    if !examples.isEmpty { text += "\nExamples:\n" + examples.map { "  \($0)\n" }.joined() }
    if !options.isEmpty { text += "\nOptions:\n" + HelpText.table(options) }
    return text + "\nEvery command takes:\n" + HelpText.table(Option.global)
  }
}
