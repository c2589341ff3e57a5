import SecretMemory

/// Of which characters a typed code consists; blanks, dashes and whatever else is in it do not count.
struct CodeShape: Equatable {
  /// How many digits more than a one-time code make a backup code: one more is a slip.
  private static let fewestFurtherDigits = 2

  /// How many letters of ASCII there are.
  private(set) var letters = 0
  /// How many digits.
  private(set) var digits = 0

  /// Counts the characters of a code.
  init(_ code: Secret) {
    (letters, digits) = code.withBytes { bytes in
      var counts = (letters: 0, digits: 0)
      for index in bytes.indices {
        switch bytes[index] {
        case 0x30...0x39: counts.digits += 1
        case 0x41...0x5A, 0x61...0x7A: counts.letters += 1
        default: break
        }
      }
      return counts
    }
  }

  /// Whether it can only be a backup code, beside one-time codes of so many digits.
  func isBackupCode(besideLength length: Int) -> Bool {
    letters > 0 || digits >= length + Self.fewestFurtherDigits
  }
}
