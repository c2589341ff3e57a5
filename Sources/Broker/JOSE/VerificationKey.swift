package import JSON
import TextCoding

/// A public key that signatures with ES256 or RS256 are verified with, as a JSON Web Key (RFC 7517; RFC 7518, section 6).
package enum VerificationKey: Sendable, Equatable {
  /// A point of the curve P-256; each coordinate has ``coordinateByteCount`` bytes.
  case p256(x: [UInt8], y: [UInt8])
  /// Modulus and exponent of RSA, big-endian and without leading zeros.
  case rsa(modulus: [UInt8], exponent: [UInt8])

  /// How many bytes a coordinate of P-256 has, and a half of an ECDSA signature (RFC 7518, sections 3.4 and 6.2.1.2).
  package static let coordinateByteCount = 32

  /// The algorithm of its signatures.
  package var algorithm: JWSAlgorithm {
    switch self {
    case .p256: .es256
    case .rsa: .rs256
    }
  }

  /// How many bytes a signature has.
  package var signatureByteCount: Int {
    switch self {
    case .p256: 2 * Self.coordinateByteCount
    case .rsa(let modulus, _): modulus.count
    }
  }

  /// The input of a thumbprint (RFC 7638, section 3): the members that make the key, in the order of their names.
  package var canonicalForm: [UInt8] {
    var writer = JSONWriter()
    encode(to: &writer)
    return writer.bytes
  }

  /// Reads a JSON Web Key; whether a point lies on the curve shows when a signature is verified.
  ///
  /// - Throws: ``KeyFault``.
  package init(_ node: JSONNode) throws(KeyFault) {
    switch Self.text("kty", of: node) {
    case "EC":
      guard Self.text("crv", of: node) == "P-256" else { throw .curve }
      let (x, y) = (try Self.number("x", of: node), try Self.number("y", of: node))
      guard x.count == Self.coordinateByteCount, y.count == x.count else { throw .damaged }
      self = .p256(x: x, y: y)
    case "RSA":
      let (modulus, exponent) = (try Self.number("n", of: node), try Self.number("e", of: node))
      guard let first = modulus.first, first != 0, let start = exponent.first, start != 0 else { throw .damaged }
      let bits = modulus.count * 8 - first.leadingZeroBitCount
      guard KeyFault.rsaBits.contains(bits) else { throw .size(bits: bits) }
      self = .rsa(modulus: modulus, exponent: exponent)
    default: throw .kind
    }
    guard node["alg"] == nil || Self.text("alg", of: node) == algorithm.rawValue else { throw .kind }
  }

  private static func text(_ name: String, of node: JSONNode) -> String? { node[name].flatMap { try? $0.string() } }

  private static func number(_ name: String, of node: JSONNode) throws(KeyFault) -> [UInt8] {
    let bytes = try? node[name]?.withStringBytes { Base64.decodeURLForm($0) }
    guard let bytes = bytes ?? nil else { throw .damaged }
    return bytes
  }
}

extension VerificationKey: JSONEncodable {
  package func encode(to writer: inout JSONWriter) {
    func number(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes.span, as: .url), as: UTF8.self) }
    writer.object { writer in
      switch self {
      case .p256(let x, let y):
        writer.member("crv", "P-256")
        writer.member("kty", "EC")
        writer.member("x", number(x))
        writer.member("y", number(y))
      case .rsa(let modulus, let exponent):
        writer.member("e", number(exponent))
        writer.member("kty", "RSA")
        writer.member("n", number(modulus))
      }
    }
  }
}
