import JSONRPC

/// The OpenRPC document that is built into the program (`Schemas/openrpc.json`), as one line.
enum DiscoveryDocument {
  /// The text, made when it is first asked for.
  static let text: [UInt8] = {
    let limits = JSONLimits(depth: 64, byteCount: PackageResources.openrpc_json.count)
    guard let document = try? JSONDocument(parsing: PackageResources.openrpc_json, limits: limits) else {
      preconditionFailure("the document is held to its schema by tests")
    }
    var writer = JSONWriter()
    document.root.encode(to: &writer)
    return writer.bytes
  }()
}
