import HTTPMessage
import SecretMemory

/// Collects header lines, each ended by NUL, in a buffer that is wiped as it grows.
struct HeaderWriter {
  /// The collected bytes; they become a `Secret`.
  var bytes: [UInt8] = []
  /// The positions at which the lines begin.
  private(set) var starts: [Int] = []

  /// An empty block.
  init() { bytes.reserveCapacity(512) }

  /// Adds a line as it is.
  mutating func appendLine(_ line: String) {
    starts.append(bytes.count)
    append(line.utf8.span)
    bytes.append(0)
  }

  /// Adds a field that was checked.
  mutating func append(_ name: String, _ value: String) {
    appendLine("\(name): \(value)")
  }

  /// Adds the credentials.
  ///
  /// - Throws: `HTTPFailure.invalidField` when a token has a byte that cannot be sent; what was written is wiped then.
  mutating func append(_ authorization: Authorization) throws(HTTPFailure) {
    switch authorization {
    case .none: return
    case .bearer(let token): try append("Authorization: Bearer ", token)
    case .proven(let token): try append("Authorization: DPoP ", token)
    case .secret(let secret, let field, let scheme):
      let isSound =
        !field.isEmpty && field.utf8.allSatisfy(HTTPToken.isToken) && scheme.utf8.allSatisfy(HTTPToken.isToken)
      guard isSound else { throw .invalidField }
      try append(scheme.isEmpty ? "\(field): " : "\(field): \(scheme) ", secret)
    case .basic(let client):
      starts.append(bytes.count)
      append("Authorization: Basic ".utf8.span)
      client.encode { append($0) }
      bytes.append(0)
    }
  }

  /// Adds the proof of possession of a key (RFC 9449, section 4.1).
  ///
  /// - Throws: `HTTPFailure.invalidField` when it has a byte that cannot be sent.
  mutating func append(proof: Secret) throws(HTTPFailure) { try append("DPoP: ", proof) }

  private mutating func append(_ beginning: String, _ token: Secret) throws(HTTPFailure) {
    starts.append(bytes.count)
    append(beginning.utf8.span)
    // Visible ASCII: more than the grammar of RFC 6750 allows, and nothing that ends a line.
    let isSendable = token.withBytes { bytes in
      !bytes.isEmpty && bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
    }
    guard isSendable else { throw .invalidField }
    token.withBytes { append($0) }
    bytes.append(0)
  }

  /// Adds a cookie.
  ///
  /// - Throws: `HTTPFailure.invalidField` where its value cannot be sent; what was written is wiped then.
  mutating func append(_ cookie: HTTPCookie) throws(HTTPFailure) {
    let isSendable = cookie.value.withBytes { bytes in
      !bytes.isEmpty && bytes.indices.allSatisfy { HTTPCookie.isValueByte(bytes[$0]) }
    }
    guard isSendable else {
      wipe(&bytes)
      throw .invalidField
    }
    starts.append(bytes.count)
    append("Cookie: \(cookie.name)=".utf8.span)
    cookie.value.withBytes { append($0) }
    bytes.append(0)
  }

  private mutating func append(_ text: Span<UInt8>) {
    bytes.reserveWiping(text.count + 1)
    for index in text.indices { bytes.append(text[index]) }
  }
}
