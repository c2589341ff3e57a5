public import JSON
import TextCoding

/// Bytes as base64 with padding (RFC 4648, section 4).
public struct Base64Coding: ValueCoding {
  /// How many bytes there may be.
  fileprivate let limit: Int

  public func write(_ value: [UInt8], to writer: inout JSONWriter) {
    writer.string(utf8: Base64.encode(value.span, as: .padded).span)
  }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> [UInt8] {
    let text = try node.string(atMost: Base64.characterCount(of: limit, as: .padded))
    guard let bytes = Base64.decodeAnyForm(text.utf8.span), bytes.count <= limit else {
      throw node.mismatch("base64 of at most \(limit) bytes")
    }
    return bytes
  }
}

extension ValueCoding where Self == Base64Coding {
  /// At most so many bytes as base64.
  public static func base64(atMost limit: Int) -> Base64Coding { Base64Coding(limit: limit) }
}
