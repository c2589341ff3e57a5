/// A QR code without its mask: the patterns that every code of a version has, and the data around them
/// (ISO/IEC 18004, sections 6.3 and 7.7).
struct QRDrawing {
  private var modules: QRModules
  /// Which modules belong to a pattern, and are neither data nor masked.
  private var isPattern: QRModules
  private var size: Int { modules.size }

  /// Draws codewords.
  ///
  /// - Parameters:
  ///   - version: how large the code is.
  ///   - codewords: as many as the version has.
  init(_ version: QRVersion, _ codewords: [UInt8]) {
    modules = QRModules(size: version.size)
    isPattern = QRModules(size: version.size)
    drawTimingPatterns()
    for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
    drawAlignmentPatterns(version.alignmentCentres)
    drawFormat(0)
    if version.showsNumber { drawNumber(of: version) }
    drawData(codewords)
  }

  /// The code with a mask over its data.
  func masked(_ mask: QRMask) -> QRModules {
    var copy = self
    for y in 0..<size {
      for x in 0..<size where !isPattern[x, y] && mask.inverts(x, y) { copy.modules[x, y].toggle() }
    }
    copy.drawFormat(mask.formatBits)
    return copy.modules
  }

  private mutating func draw(_ x: Int, _ y: Int, _ isDark: Bool) {
    modules[x, y] = isDark
    isPattern[x, y] = true
  }

  private mutating func drawTimingPatterns() {
    for index in 0..<size {
      draw(6, index, index % 2 == 0)
      draw(index, 6, index % 2 == 0)
    }
  }

  /// A finder pattern around its centre, with the light separator around it where that is inside.
  private mutating func drawFinder(_ centreX: Int, _ centreY: Int) {
    for y in max(0, centreY - 4)...min(size - 1, centreY + 4) {
      for x in max(0, centreX - 4)...min(size - 1, centreX + 4) {
        let distance = max(abs(x - centreX), abs(y - centreY))
        draw(x, y, distance != 2 && distance != 4)
      }
    }
  }

  private mutating func drawAlignmentPatterns(_ centres: [Int]) {
    guard let first = centres.first, let last = centres.last else { return }
    for centreY in centres {
      for centreX in centres {
        // Three corners have finder patterns.
        let corner = (centreX, centreY)
        guard corner != (first, first), corner != (last, first), corner != (first, last) else { continue }
        for y in -2...2 {
          for x in -2...2 { draw(centreX + x, centreY + y, max(abs(x), abs(y)) != 1) }
        }
      }
    }
  }

  /// Both copies of the format's 15 bits, and the module beside them that is always dark (section 7.9.1).
  private mutating func drawFormat(_ bits: Int) {
    for index in 0..<15 {
      let isDark = bits >> index & 1 == 1
      // Around the upper left finder pattern; row and column 6 are timing patterns.
      switch index {
      case ..<6: draw(8, index, isDark)
      case ..<8: draw(8, index + 1, isDark)
      case 8: draw(7, 8, isDark)
      default: draw(14 - index, 8, isDark)
      }
      // Beside the other two.
      if index < 8 { draw(size - 1 - index, 8, isDark) } else { draw(8, size - 15 + index, isDark) }
    }
    draw(8, size - 8, true)
  }

  /// Both copies of the version's 18 bits (section 7.10).
  private mutating func drawNumber(of version: QRVersion) {
    var remainder = version.number
    for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11 == 1 ? 0x1F25 : 0) }
    let bits = version.number << 12 | remainder
    for index in 0..<18 {
      let (along, across) = (size - 11 + index % 3, index / 3)
      draw(along, across, bits >> index & 1 == 1)
      draw(across, along, bits >> index & 1 == 1)
    }
  }

  /// The codewords' bits in columns of two modules, upwards and downwards in turn from the lower right (section 7.7.3).
  private mutating func drawData(_ codewords: [UInt8]) {
    var bit = 0
    var goesUp = true
    for right in stride(from: size - 1, to: 0, by: -2) {
      // The timing pattern's column is passed over.
      let right = right <= 6 ? right - 1 : right
      for step in 0..<size {
        let y = goesUp ? size - 1 - step : step
        for x in [right, right - 1] where !isPattern[x, y] && bit < 8 * codewords.count {
          modules[x, y] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
          bit += 1
        }
      }
      goesUp.toggle()
    }
  }
}
