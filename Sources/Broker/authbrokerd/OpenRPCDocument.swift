import COpenRPC
import JSON

/// The description of the protocol, as `Schemas/openrpc.json` was when the program was built.
enum OpenRPCDocument {
  /// The document on one line, as framing by lines needs it.
  static var text: [UInt8] {
    var writer = JSONWriter()
    // The bytes are constants of the program.
    unsafe writer.raw(compacting: UnsafeBufferPointer(start: authbroker_openrpc(), count: authbroker_openrpc_length()))
    return writer.bytes
  }
}
