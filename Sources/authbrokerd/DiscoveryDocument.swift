import BrokerProtocol
import JSON

/// The OpenRPC document, as one line: framing by lines has no other place for it.
enum DiscoveryDocument {
  /// The text, made when it is first asked for.
  static let text: [UInt8] = {
    let text = OpenRPCDocument.text
    guard let document = try? JSONDocument(parsing: text, limits: JSONLimits(depth: 64, byteCount: text.count)) else {
      preconditionFailure("the document is held to its schema by tests")
    }
    var writer = JSONWriter()
    document.root.encode(to: &writer)
    return writer.bytes
  }()
}
