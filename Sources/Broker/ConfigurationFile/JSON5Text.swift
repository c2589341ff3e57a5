import JSON

/// A JSON5 text turned into strict JSON, with the way back from each byte to the place where a person wrote it.
///
/// Taken from https://spec.json5.org: comments, trailing commas, unquoted keys, single quotes, all escapes and line
/// continuations, hexadecimal numbers, a leading `+`, a leading or trailing decimal point, all of its white space.
/// Refused, each with its own sentence: `Infinity` and `NaN`, which no setting can mean, and unquoted keys with other
/// letters than ASCII. Structure, duplicates, encoding and depth are the strict scanner's business.
package struct JSON5Text: Sendable {
  /// One token of the output and where it came from.
  struct Token: Sendable {
    /// The token's first byte in ``json``.
    let output: Int
    /// The byte of the source that it was written at.
    let source: Int
  }

  /// The text as JSON (RFC 8259), without white space.
  package let json: [UInt8]

  private let source: [UInt8]
  private let tokens: [Token]

  /// Converts a text.
  ///
  /// - Throws: ``JSON5Error`` at the first byte that cannot be told apart into tokens.
  package init(converting source: [UInt8]) throws(JSON5Error) {
    var converter = JSON5Converter(source)
    try converter.run()
    self.source = source
    json = converter.output
    tokens = converter.tokens
  }

  /// The source position of the token that covers a byte of ``json``.
  package func position(ofJSONByte offset: Int) -> SourcePosition {
    guard let index = token(covering: offset) else { return SourcePosition(ofByte: source.count, in: source) }
    return SourcePosition(ofByte: tokens[index].source, in: source)
  }

  /// The byte of the source at which the token was written that covers a byte of ``json``; nil behind the last one.
  func sourceByte(ofJSONByte offset: Int) -> Int? { token(covering: offset).map { tokens[$0].source } }

  /// The source position of the key whose value begins at a byte of ``json``.
  package func position(ofKeyOfValueAt offset: Int) -> SourcePosition {
    guard let value = token(covering: offset), value >= 2 else { return position(ofJSONByte: offset) }
    return SourcePosition(ofByte: tokens[value - 2].source, in: source)
  }

  /// The keys and indices (`[0]`) that lead to a byte of ``json``, outermost first.
  package func path(toJSONByte offset: Int) -> [String] {
    var path: [String] = []
    var isObject: [Bool] = []
    for (index, token) in tokens.enumerated() where token.output <= offset {
      switch json[token.output] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        isObject.append(json[token.output] == UInt8(ascii: "{"))
        path.append(isObject.last == true ? "" : "[0]")
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = isObject.popLast()
        _ = path.popLast()
      case UInt8(ascii: ",") where isObject.last == false:
        path[path.count - 1] = "[\((Int(path[path.count - 1].dropFirst().dropLast()) ?? 0) + 1)]"
      case UInt8(ascii: "\"") where isObject.last == true && isKey(index):
        path[path.count - 1] = text(of: index)
      default: break
      }
    }
    return path.filter { !$0.isEmpty }
  }

  /// The mistake for which the strict scanner refuses ``json``.
  func mistake(_ error: JSONError) -> ConfigurationMistake {
    let names = path(toJSONByte: error.offset)
    let section = Self.text(of: names.dropLast())
    let isTwice = error.reason == .duplicateName
    let key = "duplicate key \"\(names.last ?? "")\"" + (section.isEmpty ? "" : " in \(section)")
    return ConfigurationMistake(
      position: position(ofJSONByte: error.offset), path: Self.text(of: names[...]),
      subject: isTwice ? .key : .value,
      message: isTwice ? key : error.reason.rawValue, suggestion: isTwice ? "remove one of them" : nil)
  }

  /// A path as all mistakes write it: `profiles.work.scopes[0]`.
  package static func text(of path: ArraySlice<String>) -> String {
    path.reduce(into: "") { text, step in text += text.isEmpty || step.hasPrefix("[") ? step : "." + step }
  }

  private func isKey(_ index: Int) -> Bool {
    index > 0 && [UInt8(ascii: "{"), UInt8(ascii: ",")].contains(json[tokens[index - 1].output])
  }

  /// The characters between the quotes of a string token.
  private func text(of index: Int) -> String {
    let end = index + 1 < tokens.count ? tokens[index + 1].output : json.count
    return String(decoding: json[tokens[index].output + 1..<max(end - 1, tokens[index].output + 1)], as: UTF8.self)
  }

  /// The last token that begins at or before a byte of the output.
  private func token(covering offset: Int) -> Int? {
    guard offset < json.count else { return nil }
    var (low, high) = (0, tokens.count)
    while low < high {
      let middle = (low + high) / 2
      if tokens[middle].output <= offset { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }
}
