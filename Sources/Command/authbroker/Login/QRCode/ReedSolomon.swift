/// The error-correcting code of QR codes: Reed-Solomon over the field of 256 elements with the polynomial
/// x⁸ + x⁴ + x³ + x² + 1 (ISO/IEC 18004, section 7.5.2).
struct ReedSolomon {
  /// The coefficients of the generator polynomial, the highest power first, without the leading 1.
  private let generator: [UInt8]

  /// A code with that many codewords for error correction.
  init(errorCodewordCount: Int) {
    // The product of (x - 2ⁱ).
    var generator: [UInt8] = [1]
    var root: UInt8 = 1
    for _ in 0..<errorCodewordCount {
      let shifted = generator + [0]
      let scaled = [0] + generator.map { Self.multiply($0, root) }
      generator = zip(shifted, scaled).map { $0 ^ $1 }
      root = Self.multiply(root, 2)
    }
    self.generator = Array(generator.dropFirst())
  }

  /// The remainder of a block's division by the generator polynomial.
  func errorCodewords(of data: some Sequence<UInt8>) -> [UInt8] {
    data.reduce(into: [UInt8](repeating: 0, count: generator.count)) { remainder, byte in
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in generator.indices { remainder[index] ^= Self.multiply(generator[index], factor) }
    }
  }

  /// The product in the field, bit by bit.
  private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var product: UInt8 = 0
    for bit in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7 == 1 ? 0x1D : 0)
      if right >> bit & 1 == 1 { product ^= left }
    }
    return product
  }
}
