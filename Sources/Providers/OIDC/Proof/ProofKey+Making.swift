import BrokerCore
import BrokerProtocol
import JOSE
import JSON
import Sealing
import SecretMemory
import Signing
import TextCoding

/// Making keys, and proofs with them (RFC 9449).
extension ProofKey {
  /// The type of proofs (section 4.2).
  private static let type = "dpop+jwt"
  /// Random bytes of a `jti`, by which a server knows a proof that it has seen (section 4.2 asks for 96 bits at least).
  private static let identifierByteCount = 16

  /// A new random key for ES256, which every server that takes proofs should know.
  ///
  /// - Throws: `.transient(.overloaded)`, `.credentialMissing`.
  static func random() throws(ProviderFailure) -> ProofKey {
    do throws(KeyFault) {
      return try SigningKey.random().withDER { bytes throws(KeyFault) in
        do { return ProofKey(der: try Secret(copying: bytes)) } catch { throw .secretMemoryExhausted }
      }
    } catch { throw failure(error) }
  }

  /// The name of the key by its own value (section 6.1; RFC 7638).
  ///
  /// - Throws: as ``random()``.
  func thumbprint() throws(ProviderFailure) -> String {
    do throws(KeyFault) { return try SigningKey(der: der).publicKey.thumbprint } catch { throw Self.failure(error) }
  }

  /// A proof for one request.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - token: the access token that goes with it; nil where there is none.
  ///   - nonce: the nonce that the server has demanded.
  ///   - now: the time by the server's clock.
  /// - Returns: the proof.
  /// - Throws: as ``random()``.
  func proof(
    for request: ProvenRequest, with token: Secret?, nonce: String?, at now: Timestamp
  ) throws(ProviderFailure) -> Secret {
    let payload = Self.payload(request, token, nonce, now)
    do throws(KeyFault) {
      let key = try SigningKey(der: der)
      let header = CompactJWS.header(key.algorithm, type: Self.type, key: key.publicKey)
      return try key.token(payload.span, header: header)
    } catch { throw Self.failure(error) }
  }

  private static func payload(
    _ request: ProvenRequest, _ token: Secret?, _ nonce: String?, _ now: Timestamp
  ) -> [UInt8] {
    let identifier = RandomBytes.array(count: identifierByteCount)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("jti", String(decoding: Base64.encode(identifier.span, as: .url), as: UTF8.self))
      writer.member("htm", request.method)
      writer.member("htu", request.address)
      writer.member("iat", Int(now.milliseconds / 1000))
      if let token { writer.member("ath", hash(of: token)) }
      writer.member(ifPresent: "nonce", nonce)
    }
    return writer.bytes
  }

  /// The hash of an access token, which shows which one a proof goes with, and not what it is.
  private static func hash(of token: Secret) -> String {
    let digest = token.withBytes { SHA256.digest(of: $0) }
    return String(decoding: Base64.encode(digest.span, as: .url), as: UTF8.self)
  }

  private static func failure(_ fault: KeyFault) -> ProviderFailure {
    switch fault {
    case .secretMemoryExhausted, .failed: .transient(.overloaded)
    default: .credentialMissing(MissingCredential("The key of dpop", fault.description))
    }
  }
}

/// The coding of a key in the handle of a login that waits for its user.
extension ProofKey {
  /// The member's name.
  private static let member = "proofKey"

  /// Writes the key as a member; nil writes nothing.
  ///
  /// The writer's bytes are the caller's to wipe.
  static func write(_ key: ProofKey?, to writer: inout JSONWriter) {
    guard let key else { return }
    var text = key.der.withBytes { Base64.encode($0, as: .url) }
    writer.key(member)
    writer.string(utf8: text.span)
    wipe(&text)
  }

  /// Reads what ``write(_:to:)`` wrote; nil where it wrote nothing.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func read(_ root: JSONNode) throws(SecretMemoryExhausted) -> ProofKey? {
    guard let text = try root[member]?.foundSecret(),
      var bytes = text.withBytes({ Base64.decodeURLForm($0) })
    else { return nil }
    return ProofKey(der: try Secret(wiping: &bytes))
  }
}
