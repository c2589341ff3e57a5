import BrokerProtocol

/// A command line's choice of an access token: by profile, scopes and audience, or by the address of a server.
struct TokenChoice: Sendable, Equatable {
  /// The options that choose it, besides `--profile`.
  static let options: [Option] = [
    TargetOption.option,
    .value("--scope", "SCOPE", "a scope that the token must have; may be repeated"),
    .value("--audience", "NAME", "the audience of the token, as the provider names it"),
  ]

  /// The target that `--url` belongs to.
  var target: Target?
  /// The address of `--url`, where its target is told with the token.
  var url: String?
  /// The profile; nil: the only one, else `default`.
  var profile: ProfileName?
  /// The scopes; nil: those of the session.
  var scopes: [String]?
  /// The audience; nil: that of the session's own token.
  var audience: String?

  /// Reads the options; the broker is asked where one of them is an address, unless it is to be asked once, for the token.
  ///
  /// - Throws: a usage failure; a failure with code 1 where no target has the address.
  init(_ context: Context, asksOnce: Bool = false) throws(CommandFailure) {
    let words = context.arguments.all("--scope")
    let named = words.flatMap { $0.split(separator: " ").map(String.init) }
    guard words.isEmpty || !named.isEmpty else { throw .usage("--scope needs the name of a scope") }
    if asksOnce, !context.arguments.has("--profile") { url = context.arguments[TargetOption.option.name] }
    if url == nil {
      target = try TargetOption.target(context)
      profile = if let target { target.profile } else { try context.profile() }
    }
    scopes = named.isEmpty ? target?.scopes : named
    audience = context.arguments["--audience"] ?? target?.audience
  }

  /// The question to the broker.
  ///
  /// - Parameters:
  ///   - minValidity: the least remaining lifetime; nil: the profile's own rule.
  ///   - forceRefresh: whether a token that is still valid is refreshed too.
  /// - Returns: the parameters, without a time limit of their own.
  func params(minValidity: Duration? = nil, forceRefresh: Bool = false) -> GetAccessToken.Params {
    GetAccessToken.Params(
      profile: profile, url: url, minValidity: minValidity, scopes: scopes, audience: audience,
      forceRefresh: forceRefresh)
  }
}
