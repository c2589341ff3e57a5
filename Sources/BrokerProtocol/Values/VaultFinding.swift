public import JSONRPC

/// Something about the vault that a person should know.
public struct VaultFinding: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// What was found, as a stable name.
  public enum Kind: String, Sendable, CaseIterable {
    /// The database contradicts itself.
    case databaseDamaged
    /// A sealed value is not what the broker wrote.
    case tampered
    /// The whole vault is older than it should be.
    case rolledBack
    /// A rollback of the whole vault would not be noticed: there is no second directory for its anchor.
    case rollbackUnnoticed
    /// The clock is behind the vault's last change.
    case clockSetBack
    /// The vault opens by another source than the configuration names.
    case keySourceDiffers
    /// The memory of secrets could not be locked.
    case memoryUnlocked
  }

  /// What was found.
  public var kind: String
  /// Whether something is wrong now, not only weaker than it could be.
  public var isError: Bool
  /// One sentence, and what to do.
  public var message: String
  /// The profile that it is about.
  public var profile: ProfileName?

  /// A finding.
  public init(_ kind: Kind, isError: Bool, _ message: String, profile: ProfileName? = nil) {
    self.kind = kind.rawValue
    self.isError = isError
    self.message = message
    self.profile = profile
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", kind)
      writer.member("severity", isError ? "error" : "warning")
      writer.member("message", message)
      writer.member(ifPresent: "profile", profile)
    }
  }

  /// Reads the members; a kind that is not known yet is taken as it is.
  public init(from node: JSONNode) throws(JSONMismatch) {
    kind = try node.required("kind").string()
    isError = try node.required("severity").string() == "error"
    message = try node.required("message").string()
    profile = try node.optional("profile", ProfileName.init(from:))
  }
}
