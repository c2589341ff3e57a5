/// Why a key cannot be used; no case carries anything of a private key.
package enum KeyFault: Error, Equatable, Sendable {
  /// OpenSSL's libcrypto is not installed.
  case libraryMissing
  /// The text is no PEM, or has no private key.
  case noKey
  /// Another kind of PEM, by its label.
  case notPrivate(label: String)
  /// There are several private keys.
  case several
  /// The private key is encrypted with a passphrase.
  case encrypted
  /// The private key is in the form of OpenSSH.
  case openSSH
  /// No key: it breaks off, was changed, or has more behind it.
  case damaged
  /// The private key belongs to another public key than the one that stands beside it.
  case mismatched
  /// The key is neither RSA nor of an elliptic curve.
  case kind
  /// The elliptic curve is not P-256.
  case curve
  /// An RSA key has fewer bits than RFC 7518, section 3.3, wants, or more than libcrypto takes.
  case size(bits: Int)
  /// The locked memory for secrets is full.
  case secretMemoryExhausted
  /// libcrypto did not do what every key can do: there is no memory.
  case failed

  /// How many bits the modulus of an RSA key has.
  package static let rsaBits = 2048...16384
}

extension KeyFault: CustomStringConvertible {
  /// One sentence that says what to do.
  package var description: String {
    switch self {
    case .libraryMissing:
      "OpenSSL's libcrypto.so.3 is not installed, without which no key for ES256 or RS256 can be used; on Debian run: "
        + "apt-get install libssl3"
    case .noKey: "there is no private key in it: one in PEM begins with -----BEGIN PRIVATE KEY-----"
    case .notPrivate(let label): "it has no private key, but a \(label): name the file of the private key"
    case .several: "it has several private keys: leave the one that is meant"
    case .encrypted:
      "the private key is encrypted with a passphrase: decrypt it with openssl pkey -in OLD -out NEW, and keep NEW as "
        + "the secret that it is"
    case .openSSH: "the private key is in OpenSSH's own form: convert a copy of it with ssh-keygen -p -m PKCS8 -f COPY"
    case .damaged: "the key is damaged: what stands in it is no key, or not all of it"
    case .mismatched: "the key is damaged: its private part does not belong to its public part"
    case .kind: "the key is of a kind that is not supported: RS256 takes an RSA key, and ES256 one of the curve P-256"
    case .curve: "the key is of another curve than P-256, which is the one of ES256"
    case .size(let bits):
      bits < Self.rsaBits.lowerBound
        ? "the RSA key has \(bits) bits, which is too weak: RS256 takes keys of \(Self.rsaBits.lowerBound) bits or more"
        : "the RSA key has \(bits) bits: no more than \(Self.rsaBits.upperBound) are supported"
    case .secretMemoryExhausted: "the locked memory for secrets is full"
    case .failed: "libcrypto has no memory for a signature"
    }
  }
}
