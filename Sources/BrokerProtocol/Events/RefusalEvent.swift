public import JSONRPC

/// A server refused one API call.
public struct RefusalEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The HTTP status.
  public var status: Int

  /// The data with its members.
  public init(status: Int) {
    self.status = status
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("status", status)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    status = try Int(from: try node.required("status"))
  }
}
