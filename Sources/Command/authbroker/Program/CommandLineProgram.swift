import BrokerProtocol
import LinuxSystem

/// The program from its words to its exit code.
enum CommandLineProgram {
  /// Finds the command among the words, runs it, and prints its failure.
  ///
  /// - Returns: the exit code.
  static func run(_ words: [String], _ environment: EnvironmentVariables) -> ExitCode {
    do throws(CommandFailure) {
      let (command, arguments) = try parse(words)
      let context = Context(
        arguments: arguments, environment: environment, isAdministrative: command.isAdministrative)
      return try run(command, context)
    } catch {
      report(error.namingHelp(of: nil), nil, asJSON: words.prefix { $0 != "--" }.contains("--json"))
      return error.exitCode
    }
  }

  private static func run(_ command: CommandEntry, _ context: Context) throws(CommandFailure) -> ExitCode {
    if context.arguments.has("--quiet") { Output.silenceNotices() }
    guard !context.arguments.has("--help") else {
      Output.data(Array(command.description.help.utf8).span)
      return .success
    }
    // A command that would start a broker there refuses it.
    if context.arguments.has("--no-start") || command.name == ServeCommand.name, let missing = context.missingState {
      Output.notice(missing)
    }
    // A broker that is started trusts the same group.
    if let group = context.arguments["--trust-group"] { Environment.set(WriteTrust.variable, to: group) }
    do throws(CommandFailure) {
      if let range = context.arguments.operandRange { try context.expectOperands(range, of: command.description) }
      try command.run(context)
    } catch {
      let error = FirstAccount.explained(told(error, by: command, context.arguments.has("--stdio")), context)
      report(error, context.arguments, asJSON: context.wantsJSON)
      // As if this program had not received it: the loop of a shell ends with its command.
      if let signal = error.signal { ProcessImage.end(by: signal) }
      return error.exitCode
    }
    return .success
  }

  /// Splits a command line into the command and its arguments; options may stand before the command's name.
  ///
  /// - Throws: a usage failure.
  static func parse(_ words: [String]) throws(CommandFailure) -> (CommandEntry, Arguments) {
    guard let position = try commandPosition(words) else {
      if words.contains(where: isVersion) { return (VersionCommand.entry, try Arguments([], known: [])) }
      if let mistake = swallowed(words) { throw .usage("missing command: \(mistake)") }
      let arguments = try Arguments(words, known: Option.global)
      guard !arguments.has("--help") else { return (HelpCommand.entry, try Arguments([], known: [])) }
      return (OverviewCommand.entry, arguments)
    }
    var command = try CommandList.command(named: words[position])
    var rest = words
    rest.remove(at: position)
    // Where another tool's words begin.
    var end = rest.endIndex
    if command.group != nil, let position = try commandPosition(rest) {
      command = try command.member(named: rest.remove(at: position))
      end = command.description.takesRawWords ? position : rest.endIndex
    }
    do throws(CommandFailure) {
      let description = command.description
      let known = (description.takesRawWords ? [] : description.options) + Option.global
      var arguments = try Arguments(rest[..<end], known: known, endsAtOperand: description.endsOptionsAtOperand)
      arguments.operands += rest[end...]
      arguments.operandRange = description.operandRange
      return (command, arguments)
    } catch { throw told(error, by: command, rest.contains("--stdio")) }
  }

  /// A failure as a command tells it: with where its help is, and nothing on a standard output that is no place for it.
  private static func told(_ failure: CommandFailure, by command: CommandEntry, _ isRelay: Bool) -> CommandFailure {
    let failure = failure.namingHelp(of: command.name)
    return command.speaksProtocol || isRelay ? failure.behindResult() : failure
  }

  /// Whether a word asks for the version of the program, alone or among short options.
  private static func isVersion(_ word: String) -> Bool {
    ["-V", Option.version.name].contains(word) || Option.group(word)?.contains("-V") == true
  }

  /// The position of the first word that is neither an option nor the value of one.
  ///
  /// - Throws: a usage failure for an option that no command has: what follows it may be a secret and no command.
  private static func commandPosition(_ words: [String]) throws(CommandFailure) -> Int? {
    // Made for a line that begins with an option of one command: most begin with none, or with one that all have, and
    // every command's would be looked at.
    lazy var known = Option.global + CommandList.withMembers.flatMap { $0.description.options }
    var index = 0
    while index < words.count {
      let word = words[index]
      guard word.hasPrefix("-"), word != "-" else { return index }
      // A plain question for the version does without the options of every command.
      guard word != "-V", word != Option.version.name else {
        index += 1
        continue
      }
      let given = Option.group(word)?.last ?? String(word.prefix { $0 != "=" })
      let name = Option.longNames[given] ?? given
      let option = Option.global.first { $0.name == name } ?? known.first { $0.name == name }
      guard option != nil || word == "--" || isVersion(word) else { throw Arguments.unknown(name, known) }
      guard let placeholder = option?.value, !word.contains("=") else {
        index += 1
        continue
      }
      guard index + 1 < words.count else { throw .usage("\(word) needs a value: \(word) \(placeholder)") }
      index += 2
    }
    return nil
  }

  /// The message where a command's name was taken as an option's value; nil where it was not.
  private static func swallowed(_ words: [String]) -> String? {
    guard let last = words.last, (try? CommandList.command(named: last)) != nil, words.count > 1 else { return nil }
    return "\(last) was taken as the value of \(words[words.count - 2])"
  }

  private static func report(_ failure: CommandFailure, _ arguments: Arguments?, asJSON: Bool) {
    // Of an end by a signal there is something to say where the broker has said it.
    let isEnd = failure.signal != nil && failure.error == nil
    let text = failure.message.text(for: arguments)
    if asJSON, !failure.hasResult, !isEnd { ErrorObject.print(failure, text) }
    if !failure.isTold, !text.isEmpty { Output.message(failure.message.shown(for: arguments)) }
  }
}
