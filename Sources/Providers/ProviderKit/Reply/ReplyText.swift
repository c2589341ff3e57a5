package import HTTP

/// Searches of a reply in which no object can be read.
enum ReplyText {
  private static let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
  private static let quotes = ["\"", "'", "&quot;", "&#34;", "&#39;", "\\"].map { Array($0.utf8) }

  /// Converts UTF-16 that begins with its byte order mark (RFC 2781, section 3.2); nil for any other bytes.
  static func utf8(fromUTF16 bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= 4, bytes.count.isMultiple(of: 2), bytes[2] != 0 || bytes[3] != 0 else { return nil }
    let isBig = bytes[0] == 0xFE && bytes[1] == 0xFF
    guard isBig || bytes[0] == 0xFF && bytes[1] == 0xFE else { return nil }
    let units = stride(from: 2, to: bytes.count, by: 2).lazy.map { (index: Int) -> UInt16 in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBig ? first << 8 + second : second << 8 + first
    }
    var text: [UInt8] = []
    // Room for the longest result, so that no copy stays behind unwiped.
    text.reserveCapacity(3 * bytes.count / 2)
    let isFaulty = transcode(
      units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false, into: { text.append($0) })
    return isFaulty || text.isEmpty ? nil : text
  }

  /// Whether a text has a member's name where one would stand: in quotes, before a colon.
  static func names(_ name: String, _ text: [UInt8]) -> Bool {
    let name = Array(name.utf8)
    var index = 0
    while index + name.count < text.count {
      if text[index] == name.first, text[index..<index + name.count].elementsEqual(name),
        index == 0 || !isWord(text[index - 1]), isFollowedByColon(index + name.count, text)
      {
        return true
      }
      index += 1
    }
    return false
  }

  private static func isFollowedByColon(_ start: Int, _ text: [UInt8]) -> Bool {
    var index = start
    while let quote = quotes.first(where: { text[index...].starts(with: $0) }) { index += quote.count }
    guard index > start else { return false }
    while index < text.count, space.contains(text[index]) { index += 1 }
    return index < text.count && text[index] == UInt8(ascii: ":")
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}

extension VitalMembers {
  /// Whether a body speaks of one of the tokens, readable or not.
  package func areNamed(in response: HTTPResponse) -> Bool {
    response.body.withArray { bytes in
      tokens.contains { path in !path.isEmpty && path.allSatisfy { ReplyText.names($0, bytes) } }
    }
  }
}
