/// Whom a provider's certificate must come from.
package struct TLSConfiguration: Sendable, Equatable {
  /// The public keys that the server may have; empty where every key is good that an authority vouches for.
  package var pins: [String]
  /// The absolute path of a file with the trusted authorities; nil for the system's.
  package var caFile: String?

  /// Keys of two years, spare ones and those of an authority fit many times.
  private static let mostPins = 16

  /// The system's authorities, and no pins.
  init() {
    pins = []
    caFile = nil
  }

  /// Reads the section, with the default of each setting that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    pins = try section.texts("pins") ?? []
    if section.has("pins") {
      guard pins.allSatisfy(Self.isPin) else {
        throw section.failure("pins", #"must be texts such as "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=""#)
      }
      guard (2...Self.mostPins).contains(pins.count), Set(pins).count == pins.count else {
        throw section.failure("pins", "must be 2 to \(Self.mostPins) different pins: one in use, and a spare one")
      }
    }
    caFile = try section.text("caFile")
    if let caFile, !AbsolutePath.isFile(caFile) { throw section.failure("caFile", AbsolutePath.expectation) }
    try section.refuseUnknownKeys()
  }

  /// `sha256//` and the base64 form (RFC 4648, section 4) of 32 bytes, whose last digit has two bits that are 0.
  private static func isPin(_ text: String) -> Bool {
    let mark = "sha256//"
    let digits = Array(text.utf8.dropFirst(mark.utf8.count))
    guard text.hasPrefix(mark), digits.count == 44, digits[43] == UInt8(ascii: "=") else { return false }
    guard "AEIMQUYcgkosw048".utf8.contains(digits[42]) else { return false }
    return digits[..<43].allSatisfy { byte in
      (0x41...0x5A).contains(byte & 0xDF) || (0x2F...0x39).contains(byte) || byte == UInt8(ascii: "+")
    }
  }
}
