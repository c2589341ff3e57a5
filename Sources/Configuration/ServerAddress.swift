/// The rules for addresses of servers: what can be said wrong is said with its line, before anything is sent there.
enum ServerAddress {
  /// The longest one: the least that everybody should understand (RFC 9110, section 4.1).
  private static let longest = 8000
  /// Addresses that never leave the machine, and may be spoken to in the clear.
  private static let loopback = ["127.0.0.1", "[::1]", "localhost"]
  /// What can stand in no URL, or would make a path more than a path.
  private static let forbidden = Set("\"<>\\^`{|}#?@%".utf8)

  /// What a wrong base URL is told.
  static let expectation =
    "must be an https:// URL without user, query and fragment; http:// is for localhost, 127.0.0.1 and [::1] only"

  /// Whether a text is the address of a server that may be called, with or without a path.
  static func isBaseURL(_ text: String) -> Bool {
    guard isAfterScheme(text) else { return false }
    if text.hasPrefix("https://") { return true }
    guard text.hasPrefix("http://") else { return false }
    return loopback.contains(String(host(text)))
  }

  /// Whether what follows `…://` is a host, maybe a port, maybe a path.
  static func isAfterScheme(_ text: String) -> Bool {
    guard text.utf8.count <= longest, isClean(text) else { return false }
    let authority = authority(text)
    let host = host(text)
    let rest = authority.dropFirst(host.count)
    guard rest.isEmpty || (rest.first == ":" && isPort(rest.dropFirst())) else { return false }
    if host.hasPrefix("[") {
      return host.hasSuffix("]")
        && host.dropFirst().dropLast().utf8.allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") }
        && host.contains(":")
    }
    return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(isNameByte)
    }
  }

  /// Whether a text can be a path below a base URL: no query, which would be logged by servers.
  static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && text.utf8.count <= longest && isClean(text)
  }

  /// Whether a text names something anywhere (RFC 3986, section 4.3): what is never called, only sent along.
  static func isAbsoluteURI(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }
    return text.utf8.count <= longest && text.utf8.count > scheme.utf8.count + 1
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
      && scheme.first.map { $0.isASCII && $0.isLetter } == true
      && scheme.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: ".") }
  }

  private static func authority(_ text: String) -> Substring {
    guard let start = text.firstRange(of: "://")?.upperBound else { return "" }
    return text[start...].prefix { $0 != "/" }
  }

  private static func host(_ text: String) -> Substring {
    let authority = authority(text)
    if let end = authority.firstIndex(of: "]") { return authority[...end] }
    return authority.prefix { $0 != ":" }
  }

  private static func isClean(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !forbidden.contains($0) }
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text)
    else { return false }
    return (1...65_535).contains(port)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2D || byte == 0x5F
  }
}
