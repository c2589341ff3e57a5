/// One of the patterns that a QR code's data is combined with, to avoid large areas and false finder patterns
/// (ISO/IEC 18004, table 10).
struct QRMask {
  /// From 0 to 7.
  let number: Int

  /// All of them.
  static let all = (0..<8).map { QRMask(number: $0) }

  /// Whether it inverts the module in a column and a row.
  func inverts(_ x: Int, _ y: Int) -> Bool {
    switch number {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }

  /// The 15 bits that encode the mask and level M (section 7.9); the level's own two bits are 00.
  var formatBits: Int {
    var remainder = number
    for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9 == 1 ? 0x537 : 0) }
    return (number << 10 | remainder) ^ 0x5412
  }
}
