/// The command's only knowledge about a provider: the name of the embedded one.
enum EmbeddedProvider {
  /// Its type, as in the configuration.
  static let type = "local"
}
