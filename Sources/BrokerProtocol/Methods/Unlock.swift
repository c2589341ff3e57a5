public import JSONRPC
public import SecretMemory

/// Opens the vault again; the first passphrase of a new vault becomes its own.
public enum Unlock: BrokerMethod {
  /// The name on the wire.
  public static let name = "unlock"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["passphrase"]

    /// The passphrase, where the key comes from one.
    public var passphrase: Secret?

    /// Params with the members that a caller gives.
    public init(passphrase: Secret? = nil) {
      self.passphrase = passphrase
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        if let passphrase { writer.member(revealing: "passphrase", passphrase) }
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      passphrase = try node.optional("passphrase") { node throws(JSONMismatch) in try node.secret() }
    }
  }
}
