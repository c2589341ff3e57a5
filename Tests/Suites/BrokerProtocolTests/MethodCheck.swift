import BrokerProtocol
import BrokerServer
import JSON

/// One method with its types erased, so that tables can hold them all.
struct MethodCheck: Sendable {
  let name: String
  /// Decodes params and encodes them again.
  let roundTripParams: @Sendable (JSONNode) throws -> JSONDocument
  /// Decodes a result and encodes it again.
  let roundTripResult: @Sendable (JSONNode) throws -> JSONDocument

  init<Method: BrokerMethod>(_ method: Method.Type) {
    name = method.name
    roundTripParams = { node in try Method.Params(from: node).encoded() }
    roundTripResult = { node in try Method.Result(from: node).encoded() }
  }

  /// All methods of this version.
  static let all = Methods.all.map { MethodCheck($0) }
}

extension JSONEncodable {
  /// The value as it stands on the wire.
  func encoded() throws(JSONError) -> JSONDocument {
    var writer = JSONWriter()
    encode(to: &writer)
    return try JSONDocument(parsing: writer.bytes)
  }
}

extension JSONDocument {
  /// Parses the UTF-8 of a text.
  init(_ text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}
