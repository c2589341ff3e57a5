public import JSONRPC

/// Events were dropped for a reader that was too slow.
public struct EventsLostEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The sequence of the first one.
  public var from: Int
  /// The sequence of the last one.
  public var to: Int

  /// The data with its members.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("from", from)
      writer.member("to", to)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    from = try Int(from: try node.required("from"))
    to = try Int(from: try node.required("to"))
  }
}
