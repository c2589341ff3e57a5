/// Something that must be found nowhere, and the shapes in which it would be just as bad to find it.
struct SecretMark {
  let name: String
  private let shapes: [[UInt8]]

  /// - Parameters:
  ///   - name: for the report, which does not repeat the secret.
  ///   - text: the secret; at least 8 bytes, so that it is nowhere by chance.
  init(_ name: String, _ text: String) {
    self.name = name
    let bytes = Array(text.utf8)
    let hexadecimal = bytes.flatMap { byte in
      [byte >> 4, byte & 15].map { $0 < 10 ? UInt8(ascii: "0") + $0 : UInt8(ascii: "a") + $0 - 10 }
    }
    shapes =
      [
        bytes, hexadecimal, Array(String(decoding: hexadecimal, as: UTF8.self).uppercased().utf8), bytes.reversed(),
        bytes.flatMap { [$0, 0] },
      ] + (0..<3).map { Self.base64(bytes.dropFirst($0)) }
  }

  /// Whether the bytes have the secret in them, in any shape.
  func isIn(_ haystack: [UInt8]) -> Bool { shapes.contains { Self.contains(haystack, $0) } }

  /// The base64 letters (RFC 4648, section 4) of all whole groups of three bytes, wherever a text begins in the group.
  private static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var rest = bytes
    while rest.count >= 3 {
      let group = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      for shift in [18, 12, 6, 0] { text.append(letters[group >> shift & 63]) }
      rest = rest.dropFirst(3)
    }
    return text
  }

  /// Horspool's search.
  private static func contains(_ haystack: [UInt8], _ needle: [UInt8]) -> Bool {
    guard let last = needle.last, haystack.count >= needle.count else { return false }
    var skips = [Int](repeating: needle.count, count: 256)
    for (index, byte) in needle.dropLast().enumerated() { skips[Int(byte)] = needle.count - 1 - index }
    var end = needle.count - 1
    while end < haystack.count {
      if haystack[end] == last, haystack[(end - needle.count + 1)...end].elementsEqual(needle) { return true }
      end += skips[Int(haystack[end])]
    }
    return false
  }
}
