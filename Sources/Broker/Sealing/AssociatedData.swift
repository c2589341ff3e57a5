/// The associated data of a sealed box: its place in the store, and its owner.
///
/// The fields are authenticated, not stored: a box opens only where the same fields in the same order are given, so a
/// value that was moved to another row, column or profile does not open. Encoded as the magic `AB1`, then for each
/// field its length as a 32-bit big-endian number and its bytes; so no two lists of fields have the same encoding.
package struct AssociatedData: Sendable, Equatable {
  /// The encoding.
  private(set) var bytes: [UInt8] = []

  /// Associated data without fields.
  package init() {
    bytes.reserveCapacity(Self.usualByteCount)
    bytes.append(contentsOf: "AB1".utf8)
  }

  /// Room for the place of a session with a usual issuer, and the header of its box.
  private static let usualByteCount = 320

  /// Adds a field of bytes.
  package mutating func append(_ field: Span<UInt8>) {
    appendLength(field.count)
    // The field is valid inside the closure, and the array copies it.
    unsafe field.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Adds a field of text, as UTF-8 without any normalisation.
  package mutating func append(_ field: String) {
    appendLength(field.utf8.count)
    bytes.append(contentsOf: field.utf8)
  }

  /// Adds a field of eight big-endian bytes.
  package mutating func append(_ field: Int64) {
    appendLength(8)
    appendBigEndian(UInt64(bitPattern: field))
  }

  private mutating func appendLength(_ count: Int) {
    precondition(count <= Int(UInt32.max), "a field of associated data is shorter than 4 GiB")
    appendBigEndian(UInt32(count))
  }

  private mutating func appendBigEndian(_ number: some FixedWidthInteger) {
    // The number is valid inside the closure, and the array copies its bytes.
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }
}
