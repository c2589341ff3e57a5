/// The little of the Distinguished Encoding Rules (X.690) that public keys and signatures are written in.
enum DER {
  /// A number of any length.
  static let integerTag: UInt8 = 0x02
  /// Bits, after a byte that says how many of the last ones do not count.
  static let bitString: UInt8 = 0x03
  /// Several values.
  static let sequenceTag: UInt8 = 0x30

  /// No parameters.
  static let null: [UInt8] = [0x05, 0x00]
  /// The object identifier of RSA keys: 1.2.840.113549.1.1.1.
  static let rsaEncryption: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  /// The object identifier of keys of elliptic curves: 1.2.840.10045.2.1.
  static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
  /// The object identifier of the curve P-256: 1.2.840.10045.3.1.7.
  static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

  /// A value: what it is, how long it is, and its contents, which are shorter than 64 KiB.
  static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    let count = contents.count
    let length: [UInt8] =
      switch count {
      case ..<0x80: [UInt8(count)]
      case ..<0x100: [0x81, UInt8(count)]
      default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
      }
    return [tag] + length + contents
  }

  /// Several values in one.
  static func sequence(_ contents: [UInt8]) -> [UInt8] { element(sequenceTag, contents) }

  /// A number that is not negative, big-endian.
  static func integer(_ number: some Sequence<UInt8>) -> [UInt8] {
    let digits = Array(number.drop { $0 == 0 })
    // A first bit that is set would make it negative.
    return element(integerTag, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
  }
}

/// The two forms of a signature with ECDSA: one after the other, as JWS has its two numbers (RFC 7518, section 3.4), and in
/// DER (RFC 3279, section 2.2.3).
enum ECDSASignature {
  private static let half = 32

  /// The numbers of a signature in DER, 32 bytes each; nil for anything else.
  static func halves(ofDER der: Span<UInt8>) -> [UInt8]? {
    // No part is longer than 127 bytes, so that each length is one byte.
    guard der.count >= 2, der[0] == DER.sequenceTag, Int(der[1]) == der.count - 2 else { return nil }
    var (place, halves) = (2, [UInt8]())
    for _ in 0..<2 {
      guard place + 2 <= der.count, der[place] == DER.integerTag else { return nil }
      let range = (place + 2)..<(place + 2 + Int(der[place + 1]))
      guard range.upperBound <= der.count else { return nil }
      let digits = range.map { der[$0] }.drop { $0 == 0 }
      guard digits.count <= half else { return nil }
      halves += [UInt8](repeating: 0, count: half - digits.count) + digits
      place = range.upperBound
    }
    return place == der.count ? halves : nil
  }

  /// The DER of a signature of 64 bytes.
  static func der(ofHalves halves: Span<UInt8>) -> [UInt8] {
    let bytes = halves.indices.map { halves[$0] }
    return DER.sequence(DER.integer(bytes[..<half]) + DER.integer(bytes[half...]))
  }
}
