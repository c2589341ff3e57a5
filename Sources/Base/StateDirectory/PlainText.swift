/// Text of another program, made fit for a terminal.
package enum PlainText {
  /// Decodes bytes that may be no UTF-8, and replaces control characters, which could move the cursor or hide words.
  package static func line(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: text.append("?")
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}
