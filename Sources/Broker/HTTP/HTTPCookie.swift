import HTTPMessage
package import SecretMemory

/// One cookie of a request (RFC 6265, section 4.2.1): of a server's cookies only those are kept that a caller asks for.
package struct HTTPCookie: Sendable {
  /// Its name.
  package let name: String
  /// Its value, a secret.
  package let value: Secret

  package init(name: String, value: Secret) {
    self.name = name
    self.value = value
  }

  /// Whether a text can be a cookie's name: a token (RFC 9110, section 5.6.2).
  package static func isName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy(HTTPToken.isToken)
  }

  /// Whether a value may contain a byte (RFC 6265, section 4.1.1).
  static func isValueByte(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: ";") && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"")
      && byte != UInt8(ascii: "\\")
  }
}

extension HTTPResponse {
  /// The value of a cookie that the server sets (RFC 6265, section 5.2), the last one where it does so more than once.
  ///
  /// - Parameter name: the cookie's.
  /// - Returns: nil where it sets none, or one without a value.
  /// - Throws: `SecretMemoryExhausted`.
  package func cookie(_ name: String) throws(SecretMemoryExhausted) -> Secret? {
    var value = lines { lines in Self.cookie(name, in: lines) }
    defer { wipe(&value) }
    return value.isEmpty ? nil : try Secret(wiping: &value)
  }

  private static func cookie(_ name: String, in lines: [UInt8]) -> [UInt8] {
    let field = Array("set-cookie:".utf8)
    var found: [UInt8] = []
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      guard line.count > field.count, zip(line, field).allSatisfy({ ($0 | 0x20) == $1 || $0 == $1 }) else { continue }
      let pair = line.dropFirst(field.count).prefix { $0 != UInt8(ascii: ";") && $0 != 0x0D }
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      guard pair[..<equals].drop(while: isBlank).elementsEqual(name.utf8) else { continue }
      var value = pair[(equals + 1)...].drop(while: isBlank)
      // A slice that is only made shorter has no memory of its own, which nothing would wipe.
      while let last = value.last, isBlank(last) { value = value.dropLast() }
      if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
        value = value.dropFirst().dropLast()
      }
      wipe(&found)
      found = value.allSatisfy(HTTPCookie.isValueByte) ? Array(value) : []
    }
    return found
  }
}
