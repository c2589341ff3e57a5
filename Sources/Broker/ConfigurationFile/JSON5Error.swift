/// Why a text is not JSON5, and where.
package struct JSON5Error: Error, Equatable, Sendable {
  /// One clause that says what is wrong, without a full stop.
  package let message: String
  /// The correction; nil where none is known.
  package let suggestion: String?
  /// The byte of the source, from 0.
  package let offset: Int

  /// A failure at one byte of the source.
  init(_ message: String, _ suggestion: String? = nil, at offset: Int) {
    self.message = message
    self.suggestion = suggestion
    self.offset = offset
  }

  /// The mistake in a source.
  package func mistake(in source: [UInt8]) -> ConfigurationMistake {
    ConfigurationMistake(
      position: SourcePosition(ofByte: offset, in: source), path: "", subject: .value, message: message,
      suggestion: suggestion)
  }
}
