import Glibc

/// A secret that is looked for in memory, whole or in pieces.
///
/// A buffer that was given back to malloc is often overwritten in part, so that a search for whole secrets would miss it.
/// Of long marks every piece counts that has ``leastPiece`` bytes.
struct MemoryMark {
  /// What it is; the secret itself is not repeated.
  let name: String
  let bytes: [UInt8]

  /// Shorter pieces could be there by chance, or be no secret: 12 characters of base64 stand for 72 bits.
  static let leastPiece = 12

  init(_ name: String, _ bytes: some Sequence<UInt8>) {
    self.name = name
    self.bytes = Array(bytes)
  }

  /// A mark's piece that was found.
  struct Piece {
    /// The index of the mark.
    let mark: Int
    /// Where it was found.
    let offset: Int
    /// How much of the mark.
    let byteCount: Int
  }
}

/// Finds many marks in one pass over memory.
struct MemorySearch {
  private let marks: [MemoryMark]
  /// Which eight bytes are part of which mark, and where.
  private var windows: [UInt64: (mark: Int, position: Int)] = [:]
  /// Whether eight bytes may be in `windows`: most of the memory is dismissed by one look at this.
  private var filter = [Bool](repeating: false, count: 1 << 16)

  init(_ marks: [MemoryMark]) {
    self.marks = marks
    for (index, mark) in marks.enumerated() where Self.isLong(mark) {
      for position in 0...mark.bytes.count - 8 {
        let word = mark.bytes[position..<position + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        windows[word] = (index, position)
        filter[Self.hash(word)] = true
      }
    }
  }

  /// A piece of 15 bytes has eight aligned ones in it wherever it lies; what is shorter is found whole or not at all.
  private static func isLong(_ mark: MemoryMark) -> Bool { mark.bytes.count >= 15 }

  private static func hash(_ word: UInt64) -> Int { Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 48) }

  /// All pieces in some memory, which begins at a multiple of eight.
  func pieces(in memory: [UInt8]) -> [MemoryMark.Piece] {
    memory.withUnsafeBytes { memory in
      var found: [MemoryMark.Piece] = []
      for page in stride(from: 0, to: memory.count, by: Self.pageSize) {
        let end = min(page + Self.pageSize, memory.count)
        guard !Self.isZero(memory[page..<end]) else { continue }
        for offset in stride(from: page, to: end - 7, by: 8) {
          let word = memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          guard word != 0, filter[Self.hash(word)], let window = windows[word] else { continue }
          if let last = found.last, last.mark == window.mark, offset < last.offset + last.byteCount { continue }
          let piece = extend(window, at: offset, in: memory)
          if piece.byteCount >= MemoryMark.leastPiece { found.append(piece) }
        }
      }
      return found + marks.indices.flatMap { Self.isLong(marks[$0]) ? [] : whole($0, in: memory) }
    }
  }

  private static let pageSize = 4096

  /// The pages of a mapping that are not all zeroes.
  static func usedPages(of memory: [UInt8]) -> [Range<Int>] {
    memory.withUnsafeBytes { memory in
      stride(from: 0, to: memory.count, by: pageSize).map { $0..<min($0 + pageSize, memory.count) }
        .filter { !isZero(memory[$0]) }
    }
  }

  private static func isZero(_ page: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let start = page.base.baseAddress.map({ $0 + page.startIndex }) else { return true }
    return start.load(as: UInt8.self) == 0 && memcmp(start, start + 1, page.count - 1) == 0
  }

  private func extend(
    _ window: (mark: Int, position: Int), at offset: Int, in memory: UnsafeRawBufferPointer
  ) -> MemoryMark.Piece {
    let mark = marks[window.mark].bytes
    var before = 0
    while before < min(window.position, offset), mark[window.position - before - 1] == memory[offset - before - 1] {
      before += 1
    }
    var length = 8
    while window.position + length < mark.count, offset + length < memory.count,
      mark[window.position + length] == memory[offset + length]
    {
      length += 1
    }
    return MemoryMark.Piece(mark: window.mark, offset: offset - before, byteCount: before + length)
  }

  private func whole(_ index: Int, in memory: UnsafeRawBufferPointer) -> [MemoryMark.Piece] {
    let mark = marks[index].bytes
    guard let start = memory.baseAddress, let first = mark.first else { return [] }
    var pieces: [MemoryMark.Piece] = []
    var position = 0
    while let hit = memchr(start + position, Int32(first), memory.count - position) {
      let offset = UnsafeRawPointer(hit) - start
      if offset + mark.count <= memory.count, memcmp(hit, mark, mark.count) == 0 {
        pieces.append(MemoryMark.Piece(mark: index, offset: offset, byteCount: mark.count))
      }
      position = offset + 1
    }
    return pieces
  }
}
