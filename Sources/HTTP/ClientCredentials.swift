package import SecretMemory

/// A client's own name and password at a server, sent as HTTP Basic.
package struct ClientCredentials: Sendable {
  /// How name and password are written before they are joined.
  package enum Encoding: Sendable {
    /// Each form-encoded, as OAuth wants it (RFC 6749, section 2.3.1).
    case form
    /// As they are (RFC 7617, section 2); the name has no colon.
    case plain
  }

  /// The client's name.
  package let id: String
  /// The client's password.
  package let secret: Secret
  /// How both are written.
  package let encoding: Encoding

  /// Names a client.
  package init(id: String, secret: Secret, encoding: Encoding = .form) {
    self.id = id
    self.secret = secret
    self.encoding = encoding
  }

  /// Lends the base64 form (RFC 4648, section 4) of `id:secret`, then wipes it.
  func encode(_ body: (Span<UInt8>) -> Void) {
    var pair: [UInt8] = []
    pair.reserveCapacity(3 * (id.utf8.count + secret.byteCount) + 1)
    for byte in id.utf8 { write(byte, into: &pair) }
    pair.append(UInt8(ascii: ":"))
    secret.withBytes { bytes in
      for index in bytes.indices { write(bytes[index], into: &pair) }
    }
    var text = Self.base64(pair)
    wipe(&pair)
    body(text.span)
    wipe(&text)
  }

  private func write(_ byte: UInt8, into pair: inout [UInt8]) {
    switch encoding {
    case .form: FormEncoder.encode(byte, into: &pair)
    case .plain: pair.append(byte)
    }
  }

  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.span
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let here = bytes[start..<min(start + 3, bytes.count)]
      let group = here.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - here.count))
      for place in 0..<4 {
        text.append(place <= here.count ? digits[group >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return text
  }
}
