public import JSONRPC

/// Looks whether the vault holds what the broker wrote.
public enum CheckVault: BrokerMethod {
  /// The name on the wire.
  public static let name = "checkVault"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["full"]

    /// Whether every page and every sealed value is looked at.
    public var isFull: Bool

    /// Params with the members that a caller gives.
    public init(isFull: Bool = false) {
      self.isFull = isFull
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("full", isFull)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      isFull = try node.optional("full", Bool.init(from:)) ?? false
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// Whether nothing is wrong.
    public var isOK: Bool
    /// What a person should know.
    public var findings: [VaultFinding]

    /// The result of a check that found so much.
    public init(findings: [VaultFinding]) {
      isOK = !findings.contains { $0.isError }
      self.findings = findings
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("ok", isOK)
        writer.member("findings", findings)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      isOK = try node.required("ok").bool()
      findings = try [VaultFinding](from: try node.required("findings"))
    }
  }
}
