/// Resolving the escapes of strings.
extension JSONTape {
  /// Lends the UTF-8 bytes that a string stands for, its escapes resolved, and clears them: it may be a secret.
  static func withUnescaped<Result>(
    _ entry: Entry, in text: Span<UInt8>, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    var bytes = unescaped(entry, in: text)
    defer { for position in bytes.indices { bytes[position] = 0 } }
    return body(bytes.span)
  }

  /// The UTF-8 bytes that a string stands for, its escapes resolved.
  @usableFromInline
  package static func unescaped(_ entry: Entry, in text: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entry.range.count)
    var position = Int(entry.start)
    let end = Int(entry.end)
    while position < end {
      guard text[position] == UInt8(ascii: "\\") else {
        bytes.append(text[position])
        position += 1
        continue
      }
      position += 1
      let letter = text[position]
      position += 1
      if letter == UInt8(ascii: "u") {
        appendUnit(text, &position, to: &bytes)
      } else {
        bytes.append(simpleEscape(letter))
      }
    }
    return bytes
  }

  private static func simpleEscape(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }

  /// Appends the character of a `\u` escape (and of its second half) whose digits begin at `position`.
  private static func appendUnit(_ text: Span<UInt8>, _ position: inout Int, to bytes: inout [UInt8]) {
    guard var code = try? JSONScanner.hexadecimalUnit(text, &position) else { return }
    if (0xD800...0xDBFF).contains(code) {
      position += 2
      guard let low = try? JSONScanner.hexadecimalUnit(text, &position) else { return }
      code = 0x10000 + ((code - 0xD800) << 10) + (low &- 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { return }
    bytes.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
  }
}
