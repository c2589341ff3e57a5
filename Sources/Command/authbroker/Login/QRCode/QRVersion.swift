/// One of the 40 sizes of QR codes, with its capacity at error correction level M (ISO/IEC 18004, tables 1, 7 and 9).
struct QRVersion {
  /// From 1 to 40.
  let number: Int

  /// For each version, how many codewords for error correction a block has.
  private static let errorCodewordCounts = [
    10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
    26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  ]
  /// For each version, how many blocks the codewords are divided into.
  private static let blockCounts = [
    1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
    17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
  ]

  /// The first version that holds a number of bytes; nil where none does.
  static func smallest(forByteCount count: Int) -> QRVersion? {
    (1...40).lazy.map { QRVersion(number: $0) }.first { version in
      4 + version.lengthBitCount + 8 * count <= 8 * version.dataCodewordCount
    }
  }

  /// How many modules each side has.
  var size: Int { 17 + 4 * number }
  /// How many bits the number of bytes takes (table 3).
  var lengthBitCount: Int { number < 10 ? 8 : 16 }
  /// How many codewords for error correction a block has.
  var errorCodewordCount: Int { Self.errorCodewordCounts[number - 1] }
  /// How many blocks the codewords are divided into.
  var blockCount: Int { Self.blockCounts[number - 1] }
  /// How many codewords are left for data.
  var dataCodewordCount: Int { codewordCount - errorCodewordCount * blockCount }
  /// Whether the version is written into the code.
  var showsNumber: Bool { number >= 7 }

  /// How many codewords there are in all: an eighth of the modules that no pattern takes.
  var codewordCount: Int {
    let centres = alignmentCentres.count
    // Three finder patterns with their separators, both timing patterns, both copies of the format, one dark module.
    var modules = size * size - 3 * 64 - 2 * (size - 16) - 31
    // Alignment patterns, but for three that would lie on finder patterns; those on a timing pattern share 5 modules with it.
    if centres > 0 { modules -= 25 * (centres * centres - 3) - 5 * 2 * (centres - 2) }
    if showsNumber { modules -= 2 * 18 }
    return modules / 8
  }

  /// Where the centres of alignment patterns lie, in rows and columns alike (annex E); none in version 1.
  var alignmentCentres: [Int] {
    guard number > 1 else { return [] }
    let gaps = number / 7 + 1
    // Equal, even steps back from the last centre; version 32 is an exception.
    let step = number == 32 ? 26 : (4 * number + 2 * gaps + 3) / (2 * gaps) * 2
    return [6] + (0..<gaps).reversed().map { size - 7 - $0 * step }
  }
}
