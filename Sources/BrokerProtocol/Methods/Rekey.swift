public import JSONRPC
public import SecretMemory

/// Seals the vault anew under new keys, from the same source or another one.
public enum Rekey: BrokerMethod {
  /// The name on the wire.
  public static let name = "rekey"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["keySource", "passphrase", "newPassphrase"]

    /// Where the key shall come from; nil means what the configuration says.
    public var keySource: KeySourceName?
    /// The passphrase of now, where there is one.
    public var passphrase: Secret?
    /// The passphrase from now on; nil keeps the one of now.
    public var newPassphrase: Secret?

    /// Params with the members that a caller gives.
    public init(keySource: KeySourceName? = nil, passphrase: Secret? = nil, newPassphrase: Secret? = nil) {
      self.keySource = keySource
      self.passphrase = passphrase
      self.newPassphrase = newPassphrase
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "keySource", keySource)
        if let passphrase { writer.member(revealing: "passphrase", passphrase) }
        if let newPassphrase { writer.member(revealing: "newPassphrase", newPassphrase) }
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      keySource = try node.optional("keySource", KeySourceName.init(from:))
      passphrase = try node.optional("passphrase") { node throws(JSONMismatch) in try node.secret() }
      newPassphrase = try node.optional("newPassphrase") { node throws(JSONMismatch) in try node.secret() }
    }
  }
}
