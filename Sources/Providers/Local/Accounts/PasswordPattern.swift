/// Recognises passwords that are a repetition, or a run along the alphabet, the digits or a row of the keyboard.
enum PasswordPattern {
  /// The longest part whose repetition is recognised, in bytes: four characters of ASCII, or one of any script.
  private static let longestUnit = 4
  /// The fewest characters of a run; shorter ones happen by chance.
  private static let shortestRun = 4

  /// The orders of characters that runs follow, forwards or backwards.
  private static let sequences = ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"]

  /// Whether a text repeats a short part (`abcabcabc`), or has nothing but runs in it (`12345678`, `aaaa4321`).
  ///
  /// The text must be in small letters.
  static func isPredictable(_ text: Span<UInt8>) -> Bool { repeatsItself(text) || consistsOfRuns(text) }

  private static func repeatsItself(_ text: Span<UInt8>) -> Bool {
    (1...longestUnit).contains { unit in
      text.count >= 2 * unit && (unit..<text.count).allSatisfy { text[$0] == text[$0 - unit] }
    }
  }

  private static func consistsOfRuns(_ text: Span<UInt8>) -> Bool {
    guard text.count >= shortestRun else { return false }
    var length = 1
    var direction: Int?
    for index in 1..<text.count {
      let step = step(from: text[index - 1], to: text[index])
      if let step, direction ?? step == step {
        length += 1
        direction = step
      } else {
        guard length >= shortestRun else { return false }
        length = 1
        direction = nil
      }
    }
    return length >= shortestRun
  }

  /// 0 for the same character, 1 or -1 for its neighbour in a sequence, nil for any other.
  private static func step(from first: UInt8, to second: UInt8) -> Int? {
    if first == second { return 0 }
    for sequence in sequences {
      let characters = sequence.utf8.span
      for index in 1..<characters.count {
        if characters[index - 1] == first, characters[index] == second { return 1 }
        if characters[index - 1] == second, characters[index] == first { return -1 }
      }
    }
    return nil
  }
}
