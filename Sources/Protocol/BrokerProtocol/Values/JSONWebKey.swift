public import JSON

/// A public key for Ed25519 signatures, as a JSON Web Key (RFC 7517, section 4; RFC 8037, section 2).
public struct JSONWebKey: Sendable, Equatable {
  /// The key type: an octet key pair.
  public static let keyType = "OKP"
  /// The curve.
  public static let curve = "Ed25519"
  /// The use of the key: signatures.
  public static let use = "sig"
  /// The algorithm of those (RFC 8037, section 3.1).
  public static let algorithm = "EdDSA"

  /// Names the key, as in the header of a token.
  public var keyID: String
  /// The public key in base64url.
  public var publicKey: String

  /// The key type: an octet key pair.
  private var keyType = JSONWebKey.keyType
  /// The curve.
  private var curve = JSONWebKey.curve
  /// The use of the key: signatures.
  private var use = JSONWebKey.use
  /// The algorithm of those (RFC 8037, section 3.1).
  private var algorithm = JSONWebKey.algorithm

  public init(keyID: String, publicKey: String) {
    self.keyID = keyID
    self.publicKey = publicKey
  }
}

extension JSONWebKey: ObjectCodable {
  public static let blank = JSONWebKey(keyID: "", publicKey: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kty", &keyType, .word(of: [Self.keyType]))
    try coder.required("crv", &curve, .word(of: [Self.curve]))
    try coder.required("x", &publicKey)
    try coder.required("kid", &keyID)
    try coder.required("use", &use, .word(of: [Self.use]))
    try coder.required("alg", &algorithm, .word(of: [Self.algorithm]))
  }
}
