import BrokerProtocol
package import JSON
package import SecretMemory
import TextCoding

/// How a token is signed (RFC 7518, section 3.1); each has one case here, and no other is ever used.
package enum JWSAlgorithm: String, Sendable {
  /// Ed25519 (RFC 8037, section 3.1).
  case edDSA = "EdDSA"
}

/// Makes and reads compact JSON Web Signatures (RFC 7515, section 3.1): three parts in base64url, parted by dots.
package enum CompactJWS {
  /// A part that is JSON.
  package enum Part: Sendable {
    /// How it is signed.
    case header
    /// What is signed.
    case payload
  }

  /// Longer parts are not looked into: a token in a header field has a few KiB.
  private static let longestPart = JSONNode.tokenByteLimit
  /// Foreign input: no claim of use is nested deeper, and a number may be of any size.
  private static let limits = JSONLimits(depth: 64, byteCount: longestPart, toleratesLargeNumbers: true)

  /// Reads a part of a token; when it returns, nothing refers to its bytes any more.
  ///
  /// - Parameters:
  ///   - part: the part.
  ///   - token: any token; nothing says that its signature is good.
  ///   - isLenient: whether any form of base64 will do.
  ///   - read: what is made of it.
  /// - Returns: what `read` gives; nil for what is no JWS, or whose part is no JSON.
  package static func read<Value>(
    _ part: Part, of token: Secret, isLenient: Bool = false, _ read: (JSONNode) -> Value?
  ) -> Value? {
    var bytes = token.withBytes { decoded(part, of: $0, isLenient: isLenient) } ?? []
    defer { wipe(&bytes) }
    return value(of: bytes, read)
  }

  private static func value<Value>(of bytes: [UInt8], _ read: (JSONNode) -> Value?) -> Value? {
    (try? JSONDocument(parsing: bytes, limits: limits)).flatMap { read($0.root) }
  }

  private static func decoded(_ part: Part, of token: Span<UInt8>, isLenient: Bool) -> [UInt8]? {
    guard let (first, second) = dots(token) else { return nil }
    let bytes = token.extracting(part == .header ? 0..<first : (first + 1)..<second)
    guard (1...longestPart).contains(bytes.count) else { return nil }
    return isLenient ? Base64.decodeAnyForm(bytes) : Base64.decodeURLForm(bytes)
  }

  /// Where the two dots are; nil for what has not two.
  private static func dots(_ token: Span<UInt8>) -> (Int, Int)? {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    return dots.count == 2 ? (dots[0], dots[1]) : nil
  }

  /// The first part of the tokens that a key signs, encoded.
  package static func header(_ algorithm: JWSAlgorithm, keyID: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("alg", algorithm.rawValue)
      writer.member("kid", keyID)
      writer.member("typ", "JWT")
    }
    return Base64.encode(writer.bytes.span, as: .url)
  }

  /// Makes a token.
  ///
  /// - Parameters:
  ///   - payload: what is signed.
  ///   - header: as ``header(_:keyID:)`` gives it.
  ///   - signatureByteCount: how many bytes a signature has.
  ///   - sign: signs a message.
  /// - Returns: the token.
  /// - Throws: `SecretMemoryExhausted`.
  package static func signed(
    _ payload: Span<UInt8>, header: [UInt8], signatureByteCount: Int, _ sign: (Span<UInt8>) -> [UInt8]
  ) throws(SecretMemoryExhausted) -> Secret {
    var token: [UInt8] = []
    // The buffer never moves, so that no copy stays behind.
    token.reserveCapacity(
      header.count + 2 + Base64.characterCount(of: payload.count, as: .url)
        + Base64.characterCount(of: signatureByteCount, as: .url))
    token += header
    token.append(UInt8(ascii: "."))
    Base64.append(payload, as: .url, to: &token)
    var signature = sign(token.span)
    defer { wipe(&signature) }
    token.append(UInt8(ascii: "."))
    Base64.append(signature.span, as: .url, to: &token)
    return try Secret(wiping: &token)
  }

  /// Checks a signature.
  ///
  /// - Parameters:
  ///   - token: any token.
  ///   - header: what it must begin with, byte for byte: another algorithm or key is never used (RFC 8725, section 3.1).
  ///   - isValid: whether a signature is of a message.
  /// - Returns: whether the token has such a header, and a good signature.
  package static func isSigned(
    _ token: Secret, header: [UInt8], _ isValid: (_ signature: Span<UInt8>, _ message: Span<UInt8>) -> Bool
  ) -> Bool {
    token.withBytes { bytes in
      guard let (first, second) = dots(bytes), first == header.count,
        header.indices.allSatisfy({ bytes[$0] == header[$0] }),
        let signature = Base64.decodeURLForm(bytes.extracting((second + 1)...))
      else { return false }
      return isValid(signature.span, bytes.extracting(..<second))
    }
  }
}
