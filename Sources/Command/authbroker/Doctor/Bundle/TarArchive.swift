/// An archive in the format `ustar` (POSIX.1-2024, pax), which every tar(1) reads.
///
/// Its files belong to no one: neither the user nor the group of this process is in it.
struct TarArchive {
  /// The unit in which archives grow.
  private static let blockSize = 512
  /// The longest name that stands in a header as one piece.
  private static let longestName = 100

  /// The files so far, in whole blocks.
  private var blocks: [UInt8] = []
  /// When the files were made, in seconds since 1970.
  private let time: Int64

  /// An archive without files.
  init(madeAt time: Int64) { self.time = time }

  /// Adds a file that only its owner can read.
  ///
  /// - Parameters:
  ///   - name: its path in the archive, of 100 bytes at most.
  ///   - contents: its bytes.
  mutating func add(_ name: String, _ contents: [UInt8]) {
    blocks += header(name, size: contents.count)
    blocks += contents
    pad()
  }

  /// The archive with its end, which is two empty blocks.
  var bytes: [UInt8] { blocks + [UInt8](repeating: 0, count: 2 * Self.blockSize) }

  private mutating func pad() {
    let rest = blocks.count % Self.blockSize
    if rest > 0 { blocks += [UInt8](repeating: 0, count: Self.blockSize - rest) }
  }

  private func header(_ name: String, size: Int) -> [UInt8] {
    var header: [UInt8] = []
    func put(_ text: String, _ width: Int) {
      let bytes = Array(text.utf8.prefix(width))
      header += bytes + [UInt8](repeating: 0, count: width - bytes.count)
    }
    put(name, Self.longestName)
    for number in [0o600, 0, 0] { put(Self.octal(Int64(number), 7), 8) }
    put(Self.octal(Int64(size), 11), 12)
    put(Self.octal(time, 11), 12)
    // The sum is counted with blanks in its own place.
    put("        ", 8)
    put("0", 1)
    put("", 100)
    put("ustar", 6)
    put("00", 2)
    put("", 247)
    let sum = Self.octal(header.reduce(Int64(0)) { $0 + Int64($1) }, 6)
    header.replaceSubrange(148..<156, with: Array(sum.utf8) + [0, UInt8(ascii: " ")])
    return header
  }

  private static func octal(_ number: Int64, _ width: Int) -> String {
    let digits = String(max(0, number), radix: 8)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
