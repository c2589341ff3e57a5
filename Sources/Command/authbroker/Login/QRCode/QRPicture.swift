/// A QR code as lines of text, each with two rows of modules in half blocks.
enum QRPicture {
  /// The light modules around the code: the standard wants 4, phones are content with 2, and a terminal has few lines.
  private static let quietZone = 2

  /// How many columns of a terminal the picture of a code takes.
  static func width(of code: QRCode) -> Int { code.size + 2 * quietZone }

  /// Draws a code.
  ///
  /// - Parameters:
  ///   - code: what is shown.
  ///   - isColoured: whether escape sequences make it black on white; without them it suits a dark background.
  /// - Returns: the lines, without line ends.
  static func lines(_ code: QRCode, isColoured: Bool) -> [String] {
    let range = -quietZone..<(code.size + quietZone)
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
      let line = range.map { x in block(upperIsDark: code.isDark(x, y), lowerIsDark: code.isDark(x, y + 1)) }
      let text = String(line)
      return isColoured ? "\u{1B}[97;40m\(text)\u{1B}[0m" : text
    }
  }

  /// Light modules are in the foreground's colour.
  private static func block(upperIsDark: Bool, lowerIsDark: Bool) -> Character {
    switch (upperIsDark, lowerIsDark) {
    case (false, false): "█"
    case (false, true): "▀"
    case (true, false): "▄"
    case (true, true): " "
    }
  }
}
