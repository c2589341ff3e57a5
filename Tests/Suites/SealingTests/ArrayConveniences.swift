import SecretMemory

@testable import Sealing

// `#expect` takes calls apart and cannot hold a `Span`; these take arrays.

extension Ed25519PublicKey {
  func accepts(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    isValid(signature: signature.span, for: message.span)
  }
}

extension KeyedHash {
  func accepts(_ digest: [UInt8], for message: [UInt8]) -> Bool {
    isValid(digest.span, for: message.span)
  }
}

extension PasswordHash {
  func accepts(_ password: String, for encoded: [UInt8]) throws -> Bool {
    try verify(Secret(utf8: password), against: encoded.span)
  }

  func isOutdated(_ encoded: [UInt8]) throws -> Bool {
    try needsRehash(encoded.span)
  }
}

extension KeyedHash {
  func digest(ofBytes message: [UInt8], count: Int) -> [UInt8] { digest(of: message.span, count: count) }

  static func unkeyedDigest(ofBytes message: [UInt8], count: Int) -> [UInt8] {
    unkeyedDigest(of: message.span, count: count)
  }
}

extension SealedBox {
  static func open(bytes: [UInt8], context: AssociatedData, key: SealingKey) throws -> Secret {
    try open(bytes.span, context: context, key: key)
  }
}

extension SealingKey {
  init(bytes: [UInt8]) throws { try self.init(copying: bytes.span) }
}

extension XChaCha20Poly1305 {
  static func encrypted(_ plaintext: [UInt8], _ associatedData: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: plaintext.count + tagByteCount)
    var output = sealed.mutableSpan
    encrypt(plaintext.span, associatedData: associatedData.span, nonce: nonce.span, key: key.span, into: &output)
    return sealed
  }

  static func decrypted(_ sealed: [UInt8], _ associatedData: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
    var plaintext = [UInt8](repeating: 0, count: sealed.count - tagByteCount)
    var output = plaintext.mutableSpan
    let isAuthentic = decrypt(
      sealed.span, associatedData: associatedData.span, nonce: nonce.span, key: key.span, into: &output)
    return isAuthentic ? plaintext : nil
  }
}
