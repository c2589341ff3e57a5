import JSON
import SecretMemory
import TextCoding

@testable import JOSE
@testable import Signing

/// The forms in which private keys lie in files, made of published ones.
enum KeyFiles {
  /// Bytes in PEM.
  static func pem(_ label: String, _ der: [UInt8], lineEnd: String = "\n") -> String {
    let text = String(decoding: Base64.encode(der.span, as: .padded), as: UTF8.self)
    let lines = stride(from: 0, to: text.count, by: 64).map { String(text.dropFirst($0).prefix(64)) }
    return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: lineEnd)
  }

  static func key(_ pem: String) throws -> SigningKey { try SigningKey(pem: try Secret(utf8: pem)) }

  /// The fault of a text that is no key.
  static func fault(_ pem: String) throws -> KeyFault? {
    let text = try Secret(utf8: pem)
    do { _ = try SigningKey(pem: text) } catch { return error }
    return nil
  }

  static func number(_ name: String, _ key: [String: String]) -> [UInt8] {
    Base64.decodeURLForm(Array((key[name] ?? "").utf8).span) ?? []
  }

  /// RFC 8017, appendix A.1.2.
  static func pkcs1(_ key: [String: String]) -> [UInt8] {
    let numbers = ["n", "e", "d", "p", "q", "dp", "dq", "qi"].flatMap { DER.integer(number($0, key)) }
    return DER.sequence(DER.integer([]) + numbers)
  }

  /// RFC 5915, section 3; a key's curve may stand around it.
  static func sec1(_ key: [String: String], curve: [UInt8] = DER.p256, publicKey: [UInt8]? = nil) -> [UInt8] {
    let point = publicKey ?? ([4] + number("x", key) + number("y", key))
    return DER.sequence(
      DER.integer([1]) + DER.element(0x04, number("d", key)) + (curve.isEmpty ? [] : DER.element(0xA0, curve))
        + (point.isEmpty ? [] : DER.element(0xA1, DER.element(DER.bitString, [0] + point))))
  }

  /// RFC 5958, section 2.
  static func pkcs8(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
    DER.sequence(DER.integer([]) + DER.sequence(algorithm) + DER.element(0x04, key))
  }

  /// The public half of a published key.
  static func publicKey(_ key: [String: String]) throws(KeyFault) -> VerificationKey {
    var writer = JSONWriter()
    writer.object { writer in for (name, value) in key { writer.member(name, value) } }
    guard let document = try? JSONDocument(parsing: writer.bytes) else { throw .damaged }
    return try VerificationKey(document.root)
  }

  /// The elements of a list that another program has printed.
  static func document(_ text: [UInt8]) throws -> [JSONNode] { try JSONDocument(parsing: text).root.elements() }

  /// Whether a token is signed with a key.
  static func isSigned(_ token: String, with key: VerificationKey) throws -> Bool {
    let header = Array(token.utf8.prefix { $0 != UInt8(ascii: ".") })
    return try CompactJWS.isSigned(try Secret(utf8: token), header: header) { signature, message throws(KeyFault) in
      try key.isValid(signature: signature, for: message)
    }
  }
}
