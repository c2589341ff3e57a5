public import JSONRPC

/// Something looks like an attack.
public struct SecurityAlertEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// What was noticed.
  public enum Kind: String, Sendable, CaseIterable {
    case refreshTokenReuse, pinMismatch, storeTampering, subjectMismatch
  }

  /// What was noticed.
  public var kind: Kind

  /// The data with its members.
  public init(kind: Kind) {
    self.kind = kind
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", kind.rawValue)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let kindNode = try node.required("kind")
    guard let kind = Kind(rawValue: try kindNode.string()) else { throw kindNode.mismatch("a known kind") }
    self.kind = kind
  }
}
