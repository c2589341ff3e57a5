public import JSONRPC

/// Reads the configuration again without losing a session.
public enum ReloadConfiguration: BrokerMethod {
  /// The name on the wire.
  public static let name = "reloadConfig"

  /// What a request carries.
  public typealias Params = Empty

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The configured profiles.
    public var profiles: [ProfileName]

    /// A result with its members.
    public init(profiles: [ProfileName]) {
      self.profiles = profiles
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("profiles", profiles)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profiles = try [ProfileName](from: try node.required("profiles"))
    }
  }
}
