import BrokerProtocol
import JSON

/// A tool's own question for a token, so that it can be asked the same way.
enum ToolProbe: Equatable, Sendable {
  /// The tool, or its helper as the tool finds it, and what it reads; the answer must hold the token.
  case run(program: String, arguments: [String] = [], input: String = "", environment: [String: String] = [:])
  /// The command that AWS's tools run for keys, as a line of a shell; it must print them.
  case keys(command: String)
  /// A file that `authbroker file` keeps, named by a variable.
  case file(variable: String)
}

/// A tool that this program can set up, as a value: that of a helper is its ``ToolHelper/setup``.
struct ToolSetup: Sendable {
  /// The name on the command line.
  let name: String
  /// Programs that are set up with it, by the names that people look for.
  var otherNames: [String] = []
  /// The description in the list.
  let summary: String
  /// Whether it speaks to targets at all; a tool that does not has one token for all that it does.
  var needsTargets = true
  /// Whether a target is one that the tool speaks to.
  let concerns: @Sendable (Target) -> Bool
  /// The steps that make the tool use the helper for some targets.
  let steps: @Sendable ([Target], SetupContext) -> [any SetupStep]
  /// The tool's question for a target's token; nil where the tool cannot be asked.
  let probe: @Sendable (Target, SetupContext) -> ToolProbe?

  /// The other helpers that the tool asks for passwords, each as its name and the file that names it; they may answer
  /// in our place.
  var otherHelpers: @Sendable (SetupContext) -> [String] = { _ in [] }

  /// The entries that are this program's, whatever target they were made for: it may be configured no longer.
  var leftovers: @Sendable (SetupContext) -> [any SetupStep] = { _ in [] }

  /// The settings that run the helper with `--profile`, whatever server asks.
  var unboundHelpers: @Sendable (SetupContext) -> [UnboundHelper] = { _ in [] }

  /// The oldest programs that use it, as `cargo 1.74`; nil where age makes no difference, or ``probe`` is the tool itself.
  var requirement: String?

  /// All tools, in the order of the list: those of the helpers, and those that need none.
  static var all: [ToolSetup] { HelperCommand.helpers.compactMap { $0.setup } + [.azure] }

  /// The names of all tools, for a shell.
  static var completion: Completion { .choices(all.map { Completer.Candidate(word: $0.name, meaning: $0.summary) }) }

  /// Programs that `authbroker exec` runs with a token, as a guide shows.
  private static let exampleTools = ["gh", "glab", "npm", "pnpm", "mvn", "maven"]

  /// Finds one by its own name or by that of its helper, such as `pip` or `keyring`.
  ///
  /// - Throws: a usage failure with a suggestion.
  static func named(_ word: String) throws(CommandFailure) -> ToolSetup {
    if let tool = all.first(where: { $0.name == word || $0.otherNames.contains(word) }) { return tool }
    if let tool = HelperCommand.helpers.first(where: { $0.toolName == word })?.setup { return tool }
    guard !exampleTools.contains(word) else {
      throw CommandFailure(
        .usage, "\(word) takes a token from a variable alone, and nothing is set up for it",
        next: NextCommand("examples are in the guide MoreHelpers and in", "help", "exec"))
    }
    let names = all.map { $0.name }
    let likely = Spelling.nearest(to: word, among: names + HelperCommand.helpers.map { $0.toolName })
    throw .unknown(
      "tool", word, likely: likely, choices: names.joined(separator: ", "))
  }
}

extension Target {
  /// Whether the target is spoken to over HTTP.
  var isWeb: Bool { url.hasPrefix("https://") || url.hasPrefix("http://") }

  /// Whether it is spoken to over HTTPS: some tools send no token elsewhere, not even to this machine.
  var isSecureWeb: Bool { url.hasPrefix("https://") }

  /// Whether it is a mail server.
  var isMail: Bool { ["smtp://", "smtps://", "imap://", "imaps://"].contains(where: url.hasPrefix) }

  /// The part behind the scheme: host, port where it is not the scheme's own, and path.
  private var rest: Substring { url.firstOccurrence(of: "://").map { url[$0.upperBound...] } ?? url[...] }

  /// The host, with its port where that is not the scheme's own.
  var authority: String { String(rest.prefix { $0 != "/" }) }

  /// The host alone, with the brackets of an IPv6 address.
  var host: String {
    let name = authority
    let end = name.hasPrefix("[") ? name.firstIndex(of: "]") : nil
    return String(end.map { name[...$0] } ?? name.prefix { $0 != ":" })
  }

  /// The same without a slash at the end, which makes no difference to a prefix.
  private var prefix: Substring { rest.hasSuffix("/") ? rest.dropLast() : rest }

  /// The address without a slash at the end.
  var address: String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  /// The path without its first slash; empty where there is none.
  var path: String { String(prefix.drop { $0 != "/" }.drop { $0 == "/" }) }
}
