import StateDirectory

/// Gives a sentence of the broker the form of the command's own: lower case, no full stop, one line.
enum BrokerSentence {
  /// Names that keep their capital; words with another capital, a digit or a dot in them need no entry.
  private static let names: Set<String> = ["Firebase", "Google", "Keycloak", "Linux", "Microsoft"]

  /// The sentence as it stands behind `authbroker: `.
  ///
  /// Several sentences are joined with semicolons. One begins where a full stop and a blank stand before a capital.
  static func plain(_ text: String) -> String {
    var parts: [Substring] = []
    var rest = PlainText.line(text.utf8)[...]
    while let end = boundary(in: rest) {
      parts.append(rest[..<end])
      rest = rest[end...].dropFirst(2)
    }
    parts.append(rest.last == "." ? rest.dropLast() : rest)
    return parts.map(lowered).joined(separator: "; ")
  }

  /// The position of the full stop behind which another sentence begins.
  private static func boundary(in text: Substring) -> Substring.Index? {
    text.indices.first { index in
      let rest = text[index...].prefix(3)
      return rest.count == 3 && rest.hasPrefix(". ") && rest.last?.isUppercase == true
    }
  }

  private static func lowered(_ sentence: Substring) -> String {
    let word = sentence.prefix { $0 != " " }
    let isPlain = word.dropFirst().allSatisfy { $0.isLowercase || "-',:;".contains($0) }
    guard isPlain, !names.contains(String(word)) else { return String(sentence) }
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }
}
