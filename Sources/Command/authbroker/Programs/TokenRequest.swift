import BrokerProtocol
import JSON
import SecretMemory

/// Common parts of `token` and `header`.
enum TokenRequest {
  /// The options that are about the access token alone.
  static let options: [Option] =
    [
      .value("--min-validity", "SECONDS", "the least remaining lifetime of the token (30)"),
      .flag("--force-refresh", "refresh the token even if it is still valid"),
    ] + TokenChoice.options.filter { $0.name != TargetOption.option.name }

  /// Asks for the token and prints it.
  ///
  /// The token goes from the buffer of the connection to standard output, and what held it is wiped. It makes no
  /// `Secret`: this process ends at once, and the memory for secrets costs more than everything else that it does.
  static func printToken(
    _ context: Context, as format: TokenFormat, hasHeader: Bool = false
  ) throws(CommandFailure) {
    var choice = try TokenChoice(context, asksOnce: true)
    var params = try params(choice, context)
    var text = try answer(params, context)
    if let url = choice.url {
      choice.target = target(in: text, for: url)
      if choice.target == nil {
        // A broker that knows no addresses has given, or refused, some other token.
        wipe(&text)
        choice = try TokenChoice(context)
        params = try Self.params(choice, context)
        text = try context.text(of: GetAccessToken.name, params)
      }
    }
    do throws(CommandFailure) { try SessionEnd.check(of: profile(in: text), context) } catch {
      wipe(&text)
      throw error
    }
    if let wanted = params.minValidity, let sentence = shortness(of: text, wanted, context) { Output.notice(sentence) }
    // Not shared with what is here: else a copy would be wiped.
    try printToken(of: consume text, "accessToken", for: choice.target, as: format, hasHeader: hasHeader, context)
  }

  /// The answer; without a byte where another broker than one that knows addresses may have refused it.
  private static func answer(_ params: GetAccessToken.Params, _ context: Context) throws(CommandFailure) -> [UInt8] {
    do throws(CommandFailure) { return try context.text(of: GetAccessToken.name, params) } catch {
      guard let url = params.url else { throw error }
      if error.error?.kind == .unknownTarget { throw HelperBroker.missing(url) }
      guard HelperBroker.mayBeAnothers(error) else { throw error }
      return []
    }
  }

  /// The profile that an answer names.
  private static func profile(in text: [UInt8]) -> ProfileName? {
    (try? JSONDocument(parsing: text).root).flatMap { try? $0.optional("profile", ProfileName.init(from:)) }
  }

  /// The target that an answer names.
  private static func target(in text: [UInt8], for url: String) -> Target? {
    guard let root = try? JSONDocument(parsing: text).root,
      let profile = try? ProfileName(from: root.required("profile")),
      let granted = try? root.optional("target", GrantedTarget.init(from:))
    else { return nil }
    return Target(granted, of: profile, for: url)
  }

  /// The broker has counted the time before this program did.
  private static let transit = Duration.seconds(1)

  /// The warning about a token that expires sooner than `--min-validity` asks; nil where it does not.
  private static func shortness(of text: [UInt8], _ wanted: Duration, _ context: Context) -> String? {
    guard let root = try? JSONDocument(parsing: text).root,
      let expiresAt = try? root.optional("expiresAt", Timestamp.init(from:)),
      expiresAt - LocalTime.now + transit < wanted
    else { return nil }
    let cause =
      if root["offline"] != nil {
        "the provider cannot be reached"
      } else if root["minValidityCapped"] != nil {
        "the provider's tokens live no longer"
      } else {
        "no newer one is available"
      }
    let option = "--min-validity \((context.arguments["--min-validity"] ?? "").shellQuoted)"
    return "the token expires \(LocalTime.relative(expiresAt)), sooner than \(option) asks; \(cause)"
  }

  /// Prints the token that a member of an answer holds, and wipes the answer.
  static func printToken(
    of text: consuming [UInt8], _ member: String, for target: Target?, as format: TokenFormat, hasHeader: Bool = false,
    _ context: Context
  ) throws(CommandFailure) {
    guard format != .json || hasHeader else { return Output.json(text) }
    var text = text
    defer { wipe(&text) }
    let form = try form(of: text, member, for: target, as: format, hasHeader: hasHeader, context)
    if format == .json { Output.json(form) } else { Output.line(form) }
  }

  /// A function of its own: the nodes of the answer, which share its bytes, end with it.
  private static func form(
    of text: [UInt8], _ member: String, for target: Target?, as format: TokenFormat, hasHeader: Bool, _ context: Context
  ) throws(CommandFailure) -> [UInt8] {
    let variables = format == .env ? try EnvironmentTemplate.all(context.arguments) : []
    if let other = variables.first(where: { !$0.isForShells }) {
      throw .usage("no shell takes \(other.name.shellQuoted) for a variable's name; use letters, digits and _")
    }
    guard let root = try? JSONDocument(parsing: text).root else {
      throw CommandFailure(.failure, "the broker's answer cannot be read")
    }
    return try PrintedToken(root: root, member: member, target: target, hasHeader: hasHeader).bytes(format, variables)
  }

  private static func params(
    _ choice: TokenChoice, _ context: Context
  ) throws(CommandFailure) -> GetAccessToken.Params {
    var params = choice.params(
      minValidity: try context.arguments.seconds("--min-validity"),
      forceRefresh: context.arguments.has("--force-refresh"))
    if let timeout = try context.arguments.seconds("--timeout") { params.timeout = timeout }
    return params
  }
}
