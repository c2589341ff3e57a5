/// The scopes of a session: words in RFC 6749's syntax (section 3.3), joined by spaces.
enum ScopeList {
  /// Far above what any client asks for, and bounded because it is part of every token.
  private static let largestByteCount = 1024

  /// Joins scopes; nil where one is not a word, or where they are too long.
  static func joined(_ scopes: [String]) -> String? {
    let text = scopes.joined(separator: " ")
    guard text.utf8.count <= largestByteCount else { return nil }
    for scope in scopes {
      guard !scope.isEmpty, scope.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
        return nil
      }
    }
    return text
  }

  /// The scopes of a joined text.
  static func split(_ text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
  }
}
