import BrokerProtocol

/// The request of `token --id`.
enum IDTokenRequest {
  /// Asks for the ID token in place of the access token.
  static let option = Option.flag("--id", "the ID token, for servers that ask who the user is")

  /// Asks for the ID token and prints it.
  ///
  /// It makes no `Secret`, as ``TokenRequest`` does not.
  static func printToken(_ context: Context, as format: TokenFormat) throws(CommandFailure) {
    for other in TokenRequest.options where context.arguments.has(other.name) {
      throw .usage("\(other.name) is about the access token; it does not go with \(option.name)")
    }
    let target = try TargetOption.target(context)
    let named = try context.profile()
    let params = GetIDToken.Params(profile: target?.profile ?? named)
    try SessionEnd.check(of: params.profile, context)
    let text = try context.text(of: GetIDToken.name, params)
    try TokenRequest.printToken(of: consume text, "idToken", for: target, as: format, context)
  }
}
