/// Writes responses that end their connection (RFC 9112, sections 4 and 9.6).
package enum ResponseMessage {
  /// Writes a response.
  ///
  /// - Parameters:
  ///   - status: the status code and its phrase.
  ///   - fields: what else is said than the length and the end of the connection; none can end its line early.
  ///   - body: all of the body.
  /// - Returns: all of it.
  package static func bytes(_ status: String, _ fields: [(String, String)], body: String) -> [UInt8] {
    let own = [("Content-Length", "\(body.utf8.count)"), ("Connection", "close")]
    var bytes: [UInt8] = []
    append("HTTP/1.1 \(status)", to: &bytes)
    for (name, value) in fields + own { append("\(name): \(value)", to: &bytes) }
    append("", to: &bytes)
    return bytes + body.utf8
  }

  private static func append(_ line: String, to bytes: inout [UInt8]) {
    for byte in line.utf8 { bytes.append(HTTPToken.isText(byte) ? byte : UInt8(ascii: " ")) }
    bytes += [0x0D, 0x0A]
  }
}
