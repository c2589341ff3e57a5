/// Why a text is not JSON5, and where.
package struct JSON5Error: Error, Equatable, Sendable {
  /// One clause that says what is wrong, without a full stop.
  package let message: String
  /// The byte of the source, from 0.
  package let offset: Int

  /// A failure at one byte of the source.
  init(_ message: String, at offset: Int) {
    self.message = message
    self.offset = offset
  }
}
