package import SecretMemory
import TextCoding

/// A client's own name and password at a server, sent as HTTP Basic.
package struct ClientCredentials: Sendable {
  /// The encoding of name and password before they are joined.
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
  /// The encoding of both.
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
    var text = Base64.encode(pair.span, as: .padded)
    wipe(&pair)
    body(text.span)
    wipe(&text)
  }

  private func write(_ byte: UInt8, into pair: inout [UInt8]) {
    switch encoding {
    case .form: PercentEncoding.append(byte, as: .form, to: &pair)
    case .plain: pair.append(byte)
    }
  }
}
