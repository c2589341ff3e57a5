import JOSE
import SecretMemory
import TextCoding

/// Reads a private key in PEM (RFC 7468), from locked memory to locked memory.
///
/// What stands outside of the marks is not looked at, as are other things in the same file: certificates, public keys, the
/// parameters that `openssl ecparam` writes before a key.
enum PrivateKeyPEM {
  /// The labels of private keys: PKCS #8 (RFC 5958), SEC 1 (RFC 5915), PKCS #1 (RFC 8017, appendix A.1.2).
  private static let labels = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
  /// Labels that say more than that there is no private key.
  private static let telling = ["ENCRYPTED PRIVATE KEY": KeyFault.encrypted, "OPENSSH PRIVATE KEY": .openSSH]
  /// The longest label that is repeated to the user; no registered one is longer.
  private static let longestLabel = 40

  /// The bytes of the private key.
  ///
  /// - Throws: `KeyFault`.
  static func der(of text: Secret) throws(KeyFault) -> Secret {
    try text.withBytes { text throws(KeyFault) in
      let lines = try keyLines(text)
      var characters: [UInt8] = []
      // The buffer never moves, so that no copy stays behind.
      characters.reserveCapacity(lines.reduce(0) { $0 + $1.count })
      defer { wipe(&characters) }
      for line in lines {
        // A field before the key says how it is encrypted (RFC 1421, section 4.6).
        guard !line.contains(where: { text[$0] == UInt8(ascii: ":") }) else { throw .encrypted }
        for index in line { characters.append(text[index]) }
      }
      guard var bytes = Base64.decodeAnyForm(characters.span) else { throw .damaged }
      defer { wipe(&bytes) }
      do { return try Secret(copying: bytes.span) } catch { throw .secretMemoryExhausted }
    }
  }

  /// The lines between the marks of the one private key.
  private static func keyLines(_ text: Span<UInt8>) throws(KeyFault) -> [Range<Int>] {
    let lines = lines(of: text)
    var (found, fault): ([Range<Int>]?, KeyFault) = (nil, .noKey)
    var index = 0
    while index < lines.count {
      defer { index += 1 }
      guard let label = label("-----BEGIN ", lines[index], text) else { continue }
      let end = lines[(index + 1)...].firstIndex { Self.label("-----END ", $0, text) == label }
      guard let end else { throw .damaged }
      if labels.contains(label) {
        guard found == nil else { throw .several }
        found = Array(lines[(index + 1)..<end])
      } else if let telling = telling[label] {
        fault = telling
      } else if fault == .noKey {
        fault = .notPrivate(label: label)
      }
      index = end
    }
    guard let found else { throw fault }
    return found
  }

  /// The ranges of the lines, without the blanks around them.
  private static func lines(of text: Span<UInt8>) -> [Range<Int>] {
    text.indices.split { text[$0] == UInt8(ascii: "\n") }
      .map { line in
        let visible = line.filter { text[$0] > 0x20 }
        return (visible.first ?? 0)..<(visible.last.map { $0 + 1 } ?? 0)
      }
  }

  /// The label of a line that is such a mark.
  private static func label(_ mark: String, _ line: Range<Int>, _ text: Span<UInt8>) -> String? {
    let (mark, end) = (Array(mark.utf8), Array("-----".utf8))
    let count = line.count - mark.count - end.count
    guard (1...longestLabel).contains(count) else { return nil }
    let bytes = line.map { text[$0] }
    guard bytes.starts(with: mark), bytes.suffix(end.count) == end[...] else { return nil }
    let label = bytes[mark.count..<(mark.count + count)]
    return label.allSatisfy { (0x20...0x7E).contains($0) } ? String(decoding: label, as: UTF8.self) : nil
  }
}
