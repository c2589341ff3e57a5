import SecretMemory

/// Unpacks a body that a server has compressed although no request asks for that: gzip and zlib's format, which
/// `deflate` means (RFC 1950 to 1952; RFC 9110, section 8.4.1.2).
///
/// It is recognised by its first bytes, since servers label it or not. Any other body is left as it is; one that cannot
/// be read is a lost reply where the request has spent something.
package struct Gzip {
  /// Why nothing comes of it: it breaks the format, or is longer than allowed.
  struct Malformed: Error {}

  private static let magic: [UInt8] = [0x1F, 0x8B, 0x08]
  /// Tables of RFC 1951, section 3.2.5.
  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ]
  private static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
  ]
  /// Section 3.2.7.
  private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private let input: [UInt8]
  private let limit: Int
  private var position = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output: [UInt8] = []

  /// Unpacks a body.
  ///
  /// - Parameters:
  ///   - body: the bytes as they came.
  ///   - limit: how many there may be when they are unpacked.
  /// - Returns: the unpacked bytes; nil for what is not compressed, or breaks the format.
  package static func unpacked(_ body: [UInt8], limit: Int) -> [UInt8]? {
    let isGzip = body.starts(with: magic)
    guard isGzip || isZlib(body) else { return nil }
    var gzip = Gzip(body, limit)
    do throws(Malformed) {
      if isGzip { try gzip.skipHeader() } else { gzip.position = 2 }
      try gzip.inflate()
      gzip.bitCount = 0
      if isGzip { try gzip.checkTrailer() } else { try gzip.checkSum() }
      return gzip.output
    } catch {
      wipe(&gzip.output)
      return nil
    }
  }

  private init(_ input: [UInt8], _ limit: Int) {
    self.input = input
    self.limit = limit
    // Grown in one step where it suffices, so that few copies are made; each is wiped.
    output.reserveCapacity(min(limit, 4 * input.count))
  }

  private mutating func skipHeader() throws(Malformed) {
    guard input.count >= 18 else { throw Malformed() }
    let flags = input[3]
    position = 10
    if flags & 4 != 0 {
      let length = Int(try byte()) | Int(try byte()) << 8
      position += length
    }
    for flag in [UInt8(8), 16] where flags & flag != 0 { while try byte() != 0 {} }
    if flags & 2 != 0 { position += 2 }
  }

  /// The sum and the length of what was packed must fit (RFC 1952, section 2.3.1).
  private mutating func checkTrailer() throws(Malformed) {
    let sum = try word()
    guard sum == Self.checksum(output), try word() == UInt32(truncatingIfNeeded: output.count) else {
      throw Malformed()
    }
  }

  /// Whether a body begins as zlib's format does, without a dictionary (RFC 1950, section 2.2).
  private static func isZlib(_ body: [UInt8]) -> Bool {
    guard body.count >= 8, body[0] & 0x0F == 8, body[0] >> 4 <= 7, body[1] & 0x20 == 0 else { return false }
    return (Int(body[0]) << 8 | Int(body[1])).isMultiple(of: 31)
  }

  /// The sum of what was packed must fit (RFC 1950, section 8.2).
  private mutating func checkSum() throws(Malformed) {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in output {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    guard try word().byteSwapped == high << 16 | low else { throw Malformed() }
  }

  private mutating func word() throws(Malformed) -> UInt32 {
    var word: UInt32 = 0
    for shift in [UInt32(0), 8, 16, 24] { word |= UInt32(try byte()) << shift }
    return word
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }

  private mutating func byte() throws(Malformed) -> UInt8 {
    guard position < input.count else { throw Malformed() }
    position += 1
    return input[position - 1]
  }

  private mutating func take(_ count: Int) throws(Malformed) -> Int {
    while bitCount < count {
      bits |= UInt32(try byte()) << UInt32(bitCount)
      bitCount += 8
    }
    let value = bits & (1 << UInt32(count) - 1)
    bits >>= UInt32(count)
    bitCount -= count
    return Int(value)
  }

  private mutating func append(_ byte: UInt8) throws(Malformed) {
    guard output.count < limit else { throw Malformed() }
    output.reserveWiping(1)
    output.append(byte)
  }

  private mutating func inflate() throws(Malformed) {
    var isLast = false
    while !isLast {
      isLast = try take(1) == 1
      switch try take(2) {
      case 0: try store()
      case 1:
        let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        try unpack(HuffmanCode(lengths), HuffmanCode(Array(repeating: 5, count: 30)))
      case 2:
        let (literals, distances) = try dynamicCodes()
        try unpack(literals, distances)
      default: throw Malformed()
      }
    }
  }

  private mutating func store() throws(Malformed) {
    (bits, bitCount) = (0, 0)
    let length = Int(try byte()) | Int(try byte()) << 8
    let complement = Int(try byte()) | Int(try byte()) << 8
    guard length == ~complement & 0xFFFF else { throw Malformed() }
    for _ in 0..<length { try append(try byte()) }
  }

  private mutating func dynamicCodes() throws(Malformed) -> (HuffmanCode, HuffmanCode) {
    let literalCount = try take(5) + 257
    let distanceCount = try take(5) + 1
    let codeCount = try take(4) + 4
    guard literalCount <= 286, distanceCount <= 30 else { throw Malformed() }
    var lengths = Array(repeating: 0, count: 19)
    for index in 0..<codeCount { lengths[Self.codeLengthOrder[index]] = try take(3) }
    let code = HuffmanCode(lengths)
    lengths = []
    while lengths.count < literalCount + distanceCount {
      switch try symbol(code) {
      case let length where length < 16: lengths.append(length)
      case 16:
        guard let last = lengths.last else { throw Malformed() }
        lengths += Array(repeating: last, count: try take(2) + 3)
      case 17: lengths += Array(repeating: 0, count: try take(3) + 3)
      default: lengths += Array(repeating: 0, count: try take(7) + 11)
      }
    }
    guard lengths.count == literalCount + distanceCount else { throw Malformed() }
    return (HuffmanCode(Array(lengths[..<literalCount])), HuffmanCode(Array(lengths[literalCount...])))
  }

  private mutating func symbol(_ code: HuffmanCode) throws(Malformed) -> Int {
    var reader = HuffmanCode.Reader()
    while true {
      guard let found = try code.next(try take(1), &reader) else { continue }
      return found
    }
  }

  private mutating func unpack(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(Malformed) {
    while true {
      let symbol = try symbol(literals)
      if symbol == 256 { return }
      guard symbol > 256 else {
        try append(UInt8(symbol))
        continue
      }
      guard symbol - 257 < Self.lengthBases.count else { throw Malformed() }
      let length = Self.lengthBases[symbol - 257] + (try take(Self.lengthBits[symbol - 257]))
      let place = try self.symbol(distances)
      guard place < Self.distanceBases.count else { throw Malformed() }
      let distance = Self.distanceBases[place] + (try take(Self.distanceBits[place]))
      guard distance <= output.count else { throw Malformed() }
      for _ in 0..<length { try append(output[output.count - distance]) }
    }
  }
}

/// A canonical Huffman code (RFC 1951, section 3.2.2).
struct HuffmanCode {
  /// How far the bits of one symbol were read.
  struct Reader {
    fileprivate var code = 0
    fileprivate var first = 0
    fileprivate var index = 0
    fileprivate var length = 1
  }

  private static let longest = 15
  private var counts = Array(repeating: 0, count: longest + 1)
  private var symbols: [Int] = []

  /// The code in which each symbol has so many bits; 0 for one that does not occur.
  init(_ lengths: [Int]) {
    for length in lengths { counts[length] += 1 }
    counts[0] = 0
    for length in 1...Self.longest { symbols += lengths.indices.filter { lengths[$0] == length } }
  }

  /// Takes the next bit; nil while the symbol is not complete.
  ///
  /// - Throws: for bits that are no code.
  func next(_ bit: Int, _ reader: inout Reader) throws(Gzip.Malformed) -> Int? {
    guard reader.length <= Self.longest else { throw Gzip.Malformed() }
    reader.code |= bit
    let count = counts[reader.length]
    if reader.code - count < reader.first {
      let place = reader.index + (reader.code - reader.first)
      guard symbols.indices.contains(place) else { throw Gzip.Malformed() }
      return symbols[place]
    }
    reader.index += count
    reader.first = (reader.first + count) << 1
    reader.code <<= 1
    reader.length += 1
    return nil
  }
}
