/// The e-mail address that names an account, in the one form in which addresses are compared.
struct EmailAddress: Hashable {
  /// RFC 5321, section 4.5.3.1.3: a path of 256 octets, without its angle brackets.
  static let largestByteCount = 254

  /// White space around it removed, ASCII letters small; other letters are left alone.
  let text: String

  /// Reads an address; nil for what cannot be one.
  ///
  /// It must have something before and after its last `@`, and no white space or control character. Whether it
  /// receives mail, only mail can tell.
  init?(_ input: String) {
    var bytes = Array(input.utf8)
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    bytes.removeSubrange(..<(bytes.firstIndex { !isBlank($0) } ?? bytes.count))
    guard bytes.count <= Self.largestByteCount, let at = bytes.lastIndex(of: UInt8(ascii: "@")), at > 0,
      at < bytes.count - 1, bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
    else { return nil }
    text = String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
