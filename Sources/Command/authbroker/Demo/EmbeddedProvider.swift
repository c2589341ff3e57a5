/// What the command knows of the embedded provider, and of no other.
enum EmbeddedProvider {
  /// Its type, as in the configuration.
  static let type = "local"
}
