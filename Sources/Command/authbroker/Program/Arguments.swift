import BrokerProtocol

/// A command line behind the program's name, taken apart.
struct Arguments: Equatable, Sendable {
  /// The values of options, by name; an empty string for one that has no value.
  ///
  /// Of an option that is given twice, the last one counts; ``all(_:)`` gives every one.
  private(set) var options: [String: String] = [:]
  /// The options and their values, in order.
  private var given: [Given] = []
  /// Everything else, in order.
  var operands: [String] = []
  /// How many operands the command takes; nil where it says that itself.
  var operandRange: ClosedRange<Int>?

  private struct Given: Equatable {
    let name: String
    let value: String
    /// The member of the request that carries it.
    let member: String
  }

  /// Options that would carry a secret, which every user of the machine could read in a list of processes.
  private static let secrets = [
    "--password", "--code", "--otp", "--token", "--refresh-token", "--passphrase", "--secret", "--client-secret",
  ]

  /// A command line that says nothing.
  init() {}

  /// Takes words apart by the options that are known.
  ///
  /// `--name=value` and `--name value` mean the same; behind `--` nothing is an option; `-` is an operand.
  ///
  /// - Parameters:
  ///   - words: the words.
  ///   - known: the options that are known.
  ///   - endsAtOperand: whether no word behind the first operand is an option.
  /// - Throws: a usage failure with a suggestion.
  init(
    _ words: some Sequence<String>, known: [Option], endsAtOperand: Bool = false
  ) throws(CommandFailure) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        guard endsAtOperand else { continue }
        operands += rest
        return
      }
      if let group = Option.group(word) {
        rest = group[...] + rest
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = Option.longNames[parts[0]] ?? parts[0]
      guard let option = known.first(where: { $0.name == name }) else { throw Self.unknown(name, known) }
      let value = try Self.value(of: option, parts.count > 1 ? parts[1] : nil, &rest)
      options[name] = value
      given.append(Given(name: name, value: value, member: option.member ?? String(name.dropFirst(2))))
    }
  }

  /// The name of the option that was given for a member of a request; nil where none was.
  func option(for member: String) -> String? { given.first { $0.member == member }?.name }

  private static func value(
    of option: Option, _ attached: String?, _ rest: inout ArraySlice<String>
  ) throws(CommandFailure) -> String {
    guard let placeholder = option.value else {
      guard attached == nil else { throw .usage("\(option.name) takes no value") }
      return ""
    }
    guard let value = attached ?? rest.popFirst() else {
      throw .usage("\(option.name) needs a value: \(option.name) \(placeholder)")
    }
    return value
  }

  /// The failure for an unknown option; what follows it is not repeated.
  static func unknown(_ name: String, _ known: [Option]) -> CommandFailure {
    if secrets.contains(name) {
      let what =
        switch name {
        case "--code", "--otp": "--code-stdin"
        case "--token", "--refresh-token": "--token-stdin"
        case "--client-secret": "--secret-stdin, --secret-file or --secret-command"
        default: "--password-stdin or --password-command"
        }
      return .usage("a secret is never taken from an argument, where other programs can read it; use \(what)")
    }
    return .unknown("option", name, likely: Spelling.nearest(to: name, among: known.map { $0.name }))
  }

  /// Some of the options as words of a command line again.
  func words(of names: [String]) -> [String] {
    names.compactMap { name in options[name].map { $0.isEmpty ? name : "\(name)=\($0)" } }
  }

  /// Whether an option was given.
  func has(_ name: String) -> Bool { options[name] != nil }

  /// The value of an option.
  subscript(_ name: String) -> String? { options[name] }

  /// The values of an option that may be given more than once, in order.
  func all(_ name: String) -> [String] { given.filter { $0.name == name }.map { $0.value } }

  /// The value of an option that is a duration.
  ///
  /// - Throws: a usage failure unless it is a number of seconds from 0 to 315360000, the protocol's own bound.
  func seconds(_ name: String) throws(CommandFailure) -> Duration? {
    guard let text = options[name] else { return nil }
    guard let value = Double(text), value >= 0, value <= 315_360_000 else {
      throw .usage("\(name) needs a number of seconds from 0 to 315360000, not \(text.shellQuoted)")
    }
    return .milliseconds(Int64((value * 1000).rounded()))
  }

  /// The value of an option that counts something.
  ///
  /// - Throws: a usage failure unless it is a whole number that is not negative.
  func count(_ name: String) throws(CommandFailure) -> Int? {
    guard let text = options[name] else { return nil }
    guard let value = Int(text), value >= 0 else {
      throw .usage("\(name) needs a whole number, not \(text.shellQuoted)")
    }
    return value
  }

  /// The profile that was named.
  ///
  /// - Throws: a usage failure for what cannot be a profile's name.
  func profile() throws(CommandFailure) -> ProfileName? {
    guard let text = options["--profile"] else { return nil }
    guard let name = ProfileName(text) else {
      throw .usage("--profile needs a profile's name (a-z, 0-9, '.', '_' and '-'), not \(text.shellQuoted)")
    }
    return name
  }
}
