import JSON

/// Reads the header block of the language-server base protocol (LSP 3.17, "Base Protocol").
struct HeaderParser: Sendable {
  /// The outcome of reading a block.
  enum Outcome: Equatable {
    /// Its end is not there yet.
    case incomplete
    /// It announces a body of `length` bytes, which begins at `bodyStart`.
    case complete(bodyStart: Int, length: Int)
    /// It can be no block, for the reason that the sentence gives.
    case broken(String)
  }

  /// The framing that the first line of a stream shows.
  enum FirstLine: Equatable {
    /// It is one of the protocol's two headers.
    case header
    /// It is something else.
    case other
    /// It may become a header; more bytes are needed.
    case incomplete
  }

  /// A header block has two short lines; what is longer than this is something else.
  static let blockByteLimit = 4096

  /// Whether the line that begins at the first byte is one of the protocol's two headers, by its first `limit` bytes.
  static func firstLine(_ bytes: Span<UInt8>, limit: Int) -> FirstLine {
    let names = ["content-length", "content-type"]
    var position = 0
    var name = ""
    while position < bytes.count, position < limit, bytes[position] != UInt8(ascii: "\n") {
      if bytes[position] == UInt8(ascii: ":") {
        while name.last == " " || name.last == "\t" { name.removeLast() }
        return names.contains(name) ? .header : .other
      }
      name.unicodeScalars.append(Unicode.Scalar(lowercase(bytes[position])))
      guard names.contains(where: { $0.hasPrefix(name.prefix { $0 != " " && $0 != "\t" }) }) else { return .other }
      position += 1
    }
    return position < bytes.count || position >= limit ? .other : .incomplete
  }

  /// Reads a block that begins at the first byte.
  func parse(_ bytes: Span<UInt8>) -> Outcome {
    var length: Int?
    var hasHeader = false
    var position = 0
    while true {
      var end = position
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      guard end < bytes.count, end < Self.blockByteLimit else {
        return end < Self.blockByteLimit ? .incomplete : .broken("The header block is too long.")
      }
      let next = end + 1
      if end > position, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      if end == position {
        // Blank lines between messages are tolerated; behind a header they end the block.
        if let length { return .complete(bodyStart: next, length: length) }
        guard !hasHeader else { return .broken("A header block has no Content-Length.") }
      } else if let problem = header(bytes, position..<end, &length) {
        return .broken(problem)
      } else {
        hasHeader = true
      }
      position = next
    }
  }

  private func header(_ bytes: Span<UInt8>, _ line: Range<Int>, _ length: inout Int?) -> String? {
    var text = ""
    for position in line { text.unicodeScalars.append(Unicode.Scalar(Self.lowercase(bytes[position]))) }
    guard let colon = text.firstIndex(of: ":") else { return "A header line has no colon." }
    let name = Self.trimmed(text[..<colon])
    let value = Self.trimmed(text[text.index(after: colon)...])
    switch name {
    case "content-length":
      guard length == nil, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(value) else {
        return "The header Content-Length must be one whole number."
      }
      length = count
    case "content-type":
      if let charset = value.split(separator: ";").first(where: { Self.trimmed($0).hasPrefix("charset") }),
        !charset.includes("utf-8"), !charset.includes("utf8")
      {
        return "Messages must be UTF-8."
      }
    default: break
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
