/// The authentication tag of a sealed row: 16 bytes that no other box has, so they stand for it in the manifest.
struct RowTag: Hashable, Sendable {
  /// How many bytes a tag has: those of Poly1305.
  static let byteCount = 16

  /// Stands for a row that was never written.
  static let none = RowTag(high: 0, low: 0)

  /// The first eight bytes.
  let high: UInt64
  /// The last eight bytes.
  let low: UInt64

  /// A tag from its halves.
  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The tag at the end of a box; nil where it is too short to have one.
  init?(ofBox box: Span<UInt8>) {
    guard box.count >= Self.byteCount else { return nil }
    let start = box.count - Self.byteCount
    high = (start..<start + 8).reduce(0) { $0 << 8 | UInt64(box[$1]) }
    low = (start + 8..<box.count).reduce(0) { $0 << 8 | UInt64(box[$1]) }
  }
}
