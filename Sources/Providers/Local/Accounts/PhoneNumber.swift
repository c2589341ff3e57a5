/// A phone number in international form (ITU-T E.164), where one-time codes go.
struct PhoneNumber: Hashable {
  /// `+` and 7 to 15 digits.
  let text: String

  /// Country codes of two digits (ITU-T E.164, annex D); 1 and 7 have one digit, all others three.
  private static let twoDigitCodes: Set<String> = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51",
    "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90",
    "91", "92", "93", "94", "95", "98",
  ]

  /// Reads a number; spaces, hyphens, dots, slashes and parentheses are what people write it with.
  ///
  /// Nil for anything else, also for a number without `+`: which country it is in is unknown.
  init?(_ input: String) {
    var digits: [UInt8] = []
    var isInternational = false
    for byte in input.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte)
      case UInt8(ascii: "+") where digits.isEmpty && !isInternational: isInternational = true
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"): continue
      case UInt8(ascii: "("), UInt8(ascii: ")"): continue
      default: return nil
      }
      guard isInternational, digits.count <= 15 else { return nil }
    }
    guard digits.count >= 7, digits[0] != UInt8(ascii: "0") else { return nil }
    text = "+" + String(decoding: digits, as: UTF8.self)
  }

  /// A number that was read before.
  init(stored text: String) {
    self.text = text
  }

  /// Country code and last two digits, as in `+49 ••• ••67`.
  var masked: String {
    let digits = text.dropFirst()
    let country: Int
    switch digits.prefix(1) {
    case "1", "7": country = 1
    default: country = Self.twoDigitCodes.contains(String(digits.prefix(2))) ? 2 : 3
    }
    return "+\(digits.prefix(country)) ••• ••\(digits.suffix(2))"
  }
}
