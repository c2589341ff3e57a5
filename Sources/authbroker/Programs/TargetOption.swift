import BrokerProtocol

/// The option that chooses a token by the address of the server that it is for.
enum TargetOption {
  /// Profile, scopes and audience are those of the section `targets`.
  static let option = Option.value("--url", "URL", "the token of the target that this address belongs to")

  /// The target of the address on the command line; nil without the option.
  ///
  /// With `--profile` it is that profile's token, as for every helper.
  ///
  /// - Throws: a failure with code 2 where no target has the address.
  static func target(_ context: Context) throws(CommandFailure) -> Target? {
    guard let url = context.arguments[option.name] else { return nil }
    var broker = try HelperBroker(context)
    if let target = try broker.target(of: url) { return target }
    throw CommandFailure(
      .usage,
      "no target has the address \(url.shellQuoted); add one to targets in the configuration, "
        + "or name a profile with --profile")
  }
}
