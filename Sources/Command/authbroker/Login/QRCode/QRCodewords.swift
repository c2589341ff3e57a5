/// The codewords of a QR code: data, padding and error correction (ISO/IEC 18004, sections 7.4 to 7.6).
enum QRCodewords {
  /// The two bytes that fill up what is left, in turn.
  private static let padding: [UInt8] = [0xEC, 0x11]

  /// All codewords of a version, in the order in which they are drawn.
  ///
  /// - Parameters:
  ///   - bytes: no more than the version holds.
  ///   - version: how large the code is.
  /// - Returns: as many as the version has.
  static func make(_ bytes: Span<UInt8>, _ version: QRVersion) -> [UInt8] {
    interleaved(data(bytes, version), version)
  }

  /// The bytes in byte mode: its indicator 0100, their number, they themselves, the terminator 0000, padding.
  static func data(_ bytes: Span<UInt8>, _ version: QRVersion) -> [UInt8] {
    // Every part is a multiple of four bits long.
    var halves: [UInt8] = [4]
    for shift in stride(from: version.lengthBitCount - 4, through: 0, by: -4) {
      halves.append(UInt8(truncatingIfNeeded: bytes.count >> shift) & 0xF)
    }
    for index in bytes.indices { halves += [bytes[index] >> 4, bytes[index] & 0xF] }
    halves.append(0)
    var data = stride(from: 0, to: halves.count, by: 2).map { halves[$0] << 4 | halves[$0 + 1] }
    let used = data.count
    while data.count < version.dataCodewordCount { data.append(padding[(data.count - used) % 2]) }
    return data
  }

  /// Divides the data into blocks, the shorter ones first, and takes one codeword of each in turn.
  private static func interleaved(_ data: [UInt8], _ version: QRVersion) -> [UInt8] {
    let code = ReedSolomon(errorCodewordCount: version.errorCodewordCount)
    let (length, longerCount) = data.count.quotientAndRemainder(dividingBy: version.blockCount)
    var blocks: [ArraySlice<UInt8>] = []
    var start = 0
    for number in 0..<version.blockCount {
      let end = start + length + (number < version.blockCount - longerCount ? 0 : 1)
      blocks.append(data[start..<end])
      start = end
    }
    return inTurn(blocks) + inTurn(blocks.map { code.errorCodewords(of: $0)[...] })
  }

  private static func inTurn(_ blocks: [ArraySlice<UInt8>]) -> [UInt8] {
    let longest = blocks.map { $0.count }.max() ?? 0
    return (0..<longest).flatMap { index in
      blocks.compactMap { index < $0.count ? $0[$0.startIndex + index] : nil }
    }
  }
}
