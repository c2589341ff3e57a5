import BrokerProtocol

/// The option that chooses a token by the address of the server that it is for.
enum TargetOption {
  /// Profile, scopes and audience are those of the section `targets`.
  static let option = Option.value(
    "--url", "URL", "the token of the target that this address belongs to", completion: .targets)

  /// The same for commands that are about several targets.
  static let filter = Option.value(
    option.name, "URL", "only the target that this address belongs to", completion: .targets)

  /// The target of the address on the command line; nil without the option.
  ///
  /// With `--profile` it is that profile's token, as for every helper.
  ///
  /// - Throws: as ``HelperBroker/configuredTarget(of:)``.
  static func target(_ context: Context) throws(CommandFailure) -> Target? {
    guard let url = context.arguments[option.name] else { return nil }
    var broker = try HelperBroker(context)
    return try broker.configuredTarget(of: url)
  }
}
