package import JOSE
import Sealing
import TextCoding

extension VerificationKey {
  /// The key's name by its own value (RFC 7638), with SHA-256, in base64url.
  package var thumbprint: String {
    let digest = SHA256.digest(of: canonicalForm.span)
    return String(decoding: Base64.encode(digest.span, as: .url), as: UTF8.self)
  }

  /// Whether a signature of a message, in the form of JWS, was made with this key's private half.
  ///
  /// - Throws: `KeyFault.libraryMissing`; `.damaged` for numbers that are no key, such as a point off the curve.
  package func isValid(signature: Span<UInt8>, for message: Span<UInt8>) throws(KeyFault) -> Bool {
    let key = try LoadedKey(.publicKey, der: publicKeyInfo.span)
    guard signature.count == signatureByteCount else { return false }
    guard case .p256 = self else { return key.isValid(signature, for: message) }
    return key.isValid(ECDSASignature.der(ofHalves: signature).span, for: message)
  }

  /// The key as SubjectPublicKeyInfo (RFC 5280, section 4.1; RFC 5480, section 2; RFC 8017, appendix A.1).
  private var publicKeyInfo: [UInt8] {
    let (algorithm, key) =
      switch self {
      case .p256(let x, let y): (DER.ecPublicKey + DER.p256, [4] + x + y)
      case .rsa(let modulus, let exponent):
        (DER.rsaEncryption + DER.null, DER.sequence(DER.integer(modulus) + DER.integer(exponent)))
      }
    return DER.sequence(DER.sequence(algorithm) + DER.element(DER.bitString, [0] + key))
  }
}
