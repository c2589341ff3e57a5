package import JOSE
package import SecretMemory

/// A private key that signs with ES256 or RS256.
///
/// It lies in locked memory; libcrypto has a copy for the time of a signature, which is wiped.
package struct SigningKey: Sendable {
  /// The public half, with which others verify.
  package let publicKey: VerificationKey
  /// The algorithm of its signatures.
  package var algorithm: JWSAlgorithm { publicKey.algorithm }

  private let der: Secret

  /// A new random key for ES256.
  ///
  /// - Throws: `KeyFault.libraryMissing`, `.secretMemoryExhausted`, `.failed`.
  package static func random() throws(KeyFault) -> SigningKey { try SigningKey(der: try LoadedKey().privateDER()) }

  /// Reads a private key in PEM (RFC 7468): PKCS #8, PKCS #1 or SEC 1, not encrypted.
  ///
  /// - Throws: `KeyFault`.
  package init(pem: Secret) throws(KeyFault) { try self.init(der: try PrivateKeyPEM.der(of: pem)) }

  /// Reads a private key in DER, as ``withDER(_:)`` lends it.
  ///
  /// - Throws: `KeyFault`; also for one whose halves do not belong together, which is tried with a signature.
  package init(der: Secret) throws(KeyFault) {
    self.der = der
    publicKey = try der.withBytes { bytes throws(KeyFault) in
      let key = try LoadedKey(.privateKey, der: bytes)
      let publicHalf = try key.publicHalf()
      let message = publicHalf.canonicalForm
      let signature = try key.sign(message.span)
      guard key.isValid(signature.span, for: message.span) else { throw .mismatched }
      return publicHalf
    }
  }

  /// Lends the key in DER: for sealing it.
  ///
  /// - Throws: what `body` throws.
  package func withDER<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try der.withBytes(body)
  }

  /// The signature of a message, in the form of JWS (RFC 7518, sections 3.3 and 3.4).
  ///
  /// - Throws: `KeyFault.failed`.
  package func sign(_ message: Span<UInt8>) throws(KeyFault) -> [UInt8] {
    let signature = try der.withBytes { bytes throws(KeyFault) in
      try LoadedKey(.privateKey, der: bytes).sign(message)
    }
    guard algorithm == .es256 else { return signature }
    guard let halves = ECDSASignature.halves(ofDER: signature.span) else { throw .failed }
    return halves
  }

  /// Makes a token.
  ///
  /// - Parameters:
  ///   - payload: what is signed.
  ///   - header: as `CompactJWS.header` gives it for this key's algorithm.
  /// - Returns: the token.
  /// - Throws: `KeyFault.secretMemoryExhausted`, `.failed`.
  package func token(_ payload: Span<UInt8>, header: [UInt8]) throws(KeyFault) -> Secret {
    do throws(SecretInitializationFailure<KeyFault>) {
      return try CompactJWS.signed(
        payload, header: header, signatureByteCount: publicKey.signatureByteCount, sign)
    } catch {
      if case .body(let fault) = error { throw fault }
      throw .secretMemoryExhausted
    }
  }
}
