import JSON

/// The bytes of messages to the broker, each a line.
enum OutgoingMessage {
  /// Room for any usual request, so that a password in it is not left behind by a buffer that grows.
  private static let usualByteCount = 1024

  /// A request, behind what is sent with it; its sender wipes it.
  static func request(
    id: Int64, method: String, params: some JSONEncodable, behind first: [UInt8] = []
  ) -> [UInt8] {
    line(behind: first) { writer in
      writer.key("id")
      writer.integer(id)
      writer.member("method", method)
      writer.member("params", params)
    }
  }

  /// Cancels an earlier request (`$/cancelRequest`).
  static func cancel(id: Int64) -> [UInt8] {
    line { writer in
      writer.member("method", "$/cancelRequest")
      writer.key("params")
      writer.object { writer in
        writer.key("id")
        writer.integer(id)
      }
    }
  }

  private static func line(behind first: [UInt8] = [], _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(usualByteCount + first.count)
    buffer += first
    var writer = JSONWriter(appendingTo: buffer)
    writer.object { writer in
      writer.member("jsonrpc", "2.0")
      members(&writer)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    return writer.bytes
  }
}
