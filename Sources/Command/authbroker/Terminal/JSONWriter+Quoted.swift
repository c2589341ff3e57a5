import JSON

extension JSONWriter {
  /// A string as JSON has it, with its quotes.
  static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
