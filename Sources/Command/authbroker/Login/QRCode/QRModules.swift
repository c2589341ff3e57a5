/// The square of modules of a QR code while it is drawn.
struct QRModules {
  /// How many modules each side has.
  let size: Int
  /// Row by row, whether each is dark.
  private(set) var modules: [Bool]

  /// A square of light modules.
  init(size: Int) {
    self.size = size
    modules = [Bool](repeating: false, count: size * size)
  }

  /// The module in a column and a row.
  subscript(_ x: Int, _ y: Int) -> Bool {
    get { modules[y * size + x] }
    set { modules[y * size + x] = newValue }
  }

  /// The penalty for patterns that are hard to read; the mask with the least is chosen (ISO/IEC 18004, table 11).
  var penalty: Int {
    let rows = (0..<size).map { y in (0..<size).map { x in self[x, y] } }
    let columns = (0..<size).map { x in (0..<size).map { y in self[x, y] } }
    let lines = (rows + columns).reduce(0) { $0 + Self.runPenalty($1) + Self.finderPenalty($1) }
    return lines + blockPenalty + balancePenalty
  }

  /// Runs of five or more modules of one colour.
  private static func runPenalty(_ line: [Bool]) -> Int {
    var (penalty, length) = (0, 0)
    for index in line.indices {
      length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
      if length == 5 { penalty += 3 } else if length > 5 { penalty += 1 }
    }
    return penalty
  }

  /// The proportions of a finder pattern, with four light modules before or behind it.
  private static let falseFinders: [UInt16] = [0b101_1101_0000, 0b000_0101_1101]

  private static func finderPenalty(_ line: [Bool]) -> Int {
    var (penalty, window) = (0, UInt16(0))
    for (index, isDark) in line.enumerated() {
      window = (window << 1 | (isDark ? 1 : 0)) & 0x7FF
      if index >= 10, falseFinders.contains(window) { penalty += 40 }
    }
    return penalty
  }

  /// Squares of two by two modules of one colour.
  private var blockPenalty: Int {
    var penalty = 0
    for y in 1..<size {
      for x in 1..<size where self[x, y] == self[x - 1, y] && self[x, y] == self[x, y - 1] {
        if self[x, y] == self[x - 1, y - 1] { penalty += 3 }
      }
    }
    return penalty
  }

  /// Each 5 % by which the share of dark modules differs from half.
  private var balancePenalty: Int {
    let dark = modules.count { $0 }
    return abs(20 * dark - 10 * modules.count) / modules.count * 10
  }
}
