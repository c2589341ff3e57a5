/// Reads fields from a byte sequence of a fixed layout, big-endian, and never past its end.
struct ByteReader {
  private let bytes: [UInt8]
  private var position = 0

  /// Begins at the first byte.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether everything was read.
  var isAtEnd: Bool { position == bytes.count }

  /// The next byte; nil at the end.
  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    position += 1
    return bytes[position - 1]
  }

  /// The next eight bytes as a number; nil where there are fewer.
  mutating func number() -> UInt64? {
    guard bytes.count - position >= 8 else { return nil }
    defer { position += 8 }
    return bytes[position..<position + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The next sixteen bytes as a tag; nil where there are fewer.
  mutating func tag() -> RowTag? {
    guard let high = number(), let low = number() else { return nil }
    return RowTag(high: high, low: low)
  }

  /// A string with its length in the byte before it; nil where it is cut off, or no UTF-8.
  mutating func text() -> String? {
    guard let count = byte(), bytes.count - position >= Int(count) else { return nil }
    defer { position += Int(count) }
    let text = bytes.span.extracting(position..<position + Int(count))
    guard let valid = try? UTF8Span(validating: text) else { return nil }
    return String(copying: valid)
  }
}

extension [UInt8] {
  /// Appends eight big-endian bytes.
  mutating func append(number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Appends the sixteen bytes of a tag.
  mutating func append(tag: RowTag) {
    append(number: tag.high)
    append(number: tag.low)
  }
}
