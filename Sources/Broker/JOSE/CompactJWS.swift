import BrokerProtocol
package import JSON
package import SecretMemory
import TextCoding

/// A signature algorithm (RFC 7518, section 3.1); each has one case here, and no other is ever used.
package enum JWSAlgorithm: String, Sendable {
  /// Ed25519 (RFC 8037, section 3.1).
  case edDSA = "EdDSA"
  /// ECDSA on the curve P-256 with SHA-256 (RFC 7518, section 3.4).
  case es256 = "ES256"
  /// RSA with the padding of PKCS #1 1.5 and SHA-256 (RFC 7518, section 3.3).
  case rs256 = "RS256"
}

/// Makes and reads compact JSON Web Signatures (RFC 7515, section 3.1): three parts in base64url, parted by dots.
package enum CompactJWS {
  /// A part that is JSON.
  package enum Part: Sendable {
    /// The header, which names the algorithm.
    case header
    /// The payload.
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

  /// The positions of the two dots; nil for a string that has not two.
  private static func dots(_ token: Span<UInt8>) -> (Int, Int)? {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    return dots.count == 2 ? (dots[0], dots[1]) : nil
  }

  /// The first part of the tokens that a key signs, encoded.
  ///
  /// - Parameters:
  ///   - algorithm: how they are signed.
  ///   - type: what they are, such as `dpop+jwt` (RFC 9449, section 4.2).
  ///   - keyID: how the key is called by those who have it.
  ///   - key: the public key itself, for those who have not.
  /// - Returns: the part in base64url.
  package static func header(
    _ algorithm: JWSAlgorithm, type: String = "JWT", keyID: String? = nil, key: VerificationKey? = nil
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("alg", algorithm.rawValue)
      writer.member(ifPresent: "jwk", key)
      writer.member(ifPresent: "kid", keyID)
      writer.member("typ", type)
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
  /// - Throws: `SecretInitializationFailure`, which says whether the arena or `sign` failed.
  package static func signed<E: Error>(
    _ payload: Span<UInt8>, header: [UInt8], signatureByteCount: Int, _ sign: (Span<UInt8>) throws(E) -> [UInt8]
  ) throws(SecretInitializationFailure<E>) -> Secret {
    var token: [UInt8] = []
    // The buffer never moves, so that no copy stays behind.
    token.reserveCapacity(
      header.count + 2 + Base64.characterCount(of: payload.count, as: .url)
        + Base64.characterCount(of: signatureByteCount, as: .url))
    token += header
    token.append(UInt8(ascii: "."))
    Base64.append(payload, as: .url, to: &token)
    defer { wipe(&token) }
    var signature: [UInt8]
    do { signature = try sign(token.span) } catch { throw .body(error) }
    defer { wipe(&signature) }
    token.append(UInt8(ascii: "."))
    Base64.append(signature.span, as: .url, to: &token)
    do { return try Secret(copying: token.span) } catch { throw .exhausted }
  }

  /// Checks a signature.
  ///
  /// - Parameters:
  ///   - token: any token.
  ///   - header: what it must begin with, byte for byte: another algorithm or key is never used (RFC 8725, section 3.1).
  ///   - isValid: whether a signature is of a message.
  /// - Returns: whether the token has such a header, and a good signature.
  /// - Throws: what `isValid` throws.
  package static func isSigned<E: Error>(
    _ token: Secret, header: [UInt8], _ isValid: (_ signature: Span<UInt8>, _ message: Span<UInt8>) throws(E) -> Bool
  ) throws(E) -> Bool {
    try token.withBytes { bytes throws(E) in
      guard let (first, second) = dots(bytes), first == header.count,
        header.indices.allSatisfy({ bytes[$0] == header[$0] }),
        let signature = Base64.decodeURLForm(bytes.extracting((second + 1)...))
      else { return false }
      return try isValid(signature.span, bytes.extracting(..<second))
    }
  }
}
