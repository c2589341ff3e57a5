/// The masked destination of a code, or an account's masked phone number: enough to recognise, too little to use.
package struct MaskedDestination: Equatable, Sendable {
  /// The masked text; may be empty.
  package let text: String

  /// The most digits that are shown: as many as backends show of a number, and people recognise it by.
  private static let shownDigits = 4
  private static let mask: Character = "•"
  private static let masks: Set<Character> = ["*", "•", "x", "X", "#", "…", "●"]

  /// Masks a destination, which the provider may have masked already.
  ///
  /// Of more than four digits all but the last two become dots; of an e-mail address without any mask all but the first
  /// character of the part before `@`.
  package init(_ raw: String) {
    let clean = SanitizedText(raw).text
    text = clean.contains("@") ? Self.maskedAddress(clean) : Self.maskedNumber(clean)
  }

  private static func maskedNumber(_ number: String) -> String {
    let digits = number.count { $0.isNumber }
    guard digits > shownDigits else { return number }
    var left = digits - 2
    return String(
      number.map { character in
        guard character.isNumber, left > 0 else { return character }
        left -= 1
        return mask
      })
  }

  private static func maskedAddress(_ address: String) -> String {
    let at = address.lastIndex(of: "@") ?? address.endIndex
    let name = address[..<at]
    guard !name.contains(where: { masks.contains($0) && $0 != "x" && $0 != "X" }) else { return maskedNumber(address) }
    return name.prefix(1) + String(repeating: mask, count: 3) + address[at...]
  }
}
