/// An IPv6 address, without a zone: that belongs to one machine, and to no URL.
struct IPv6Address: Equatable, CustomStringConvertible {
  /// The eight groups of 16 bits.
  private let groups: [UInt16]

  /// Reads the text of RFC 4291, section 2.2: eight groups, or fewer around one `::`; the last two may be an IPv4 address;
  /// nil for what is none.
  ///
  /// - Parameter text: in lower case, without brackets.
  init?(_ text: ArraySlice<UInt8>) {
    let colon = UInt8(ascii: ":")
    let gap = text.indices.dropLast().first { text[$0] == colon && text[$0 + 1] == colon }
    guard let gap else {
      guard let groups = Self.groups(text, mayEndInIPv4: true), groups.count == 8 else { return nil }
      self.groups = groups
      return
    }
    let (before, after) = (text[..<gap], text[(gap + 2)...])
    guard let left = before.isEmpty ? [] : Self.groups(before, mayEndInIPv4: false),
      let right = after.isEmpty ? [] : Self.groups(after, mayEndInIPv4: true), left.count + right.count < 8
    else { return nil }
    groups = left + [UInt16](repeating: 0, count: 8 - left.count - right.count) + right
  }

  /// The one spelling of RFC 5952: no leading zeros, the first longest run of two or more zero groups as `::`, and the
  /// last 32 bits of an IPv4-mapped address as an IPv4 address.
  var description: String {
    let isMapped = groups[..<5].allSatisfy { $0 == 0 } && groups[5] == 0xFFFF
    if isMapped {
      return "::ffff:" + groups[6...].map { "\($0 >> 8).\($0 & 0xFF)" }.joined(separator: ".")
    }
    var run = 0..<0
    for start in groups.indices {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start > max(run.count, 1) { run = start..<end }
    }
    let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
    return run.isEmpty ? text(groups[...]) : text(groups[..<run.lowerBound]) + "::" + text(groups[run.upperBound...])
  }

  /// The groups of a text; nil where one of them is none.
  private static func groups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt16]? {
    var parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    var tail: [UInt16] = []
    if mayEndInIPv4, let last = parts.last, let address = ipv4(last) {
      parts.removeLast()
      tail = [UInt16(address[0] << 8 | address[1]), UInt16(address[2] << 8 | address[3])]
    }
    var groups: [UInt16] = []
    for part in parts {
      guard (1...4).contains(part.count) else { return nil }
      var value: UInt16 = 0
      for byte in part {
        guard let digit = PercentEncoding.value(ofDigit: byte) else { return nil }
        value = value << 4 | UInt16(digit)
      }
      groups.append(value)
    }
    return groups + tail
  }

  /// Whether a text is four numbers without leading zeros.
  static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool { ipv4(text) != nil }

  private static func ipv4(_ text: ArraySlice<UInt8>) -> [Int]? {
    var numbers: [Int] = []
    for part in text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard let value = ServerAddress.number(part, digits: 3), value <= 255,
        part.count == 1 || part.first != UInt8(ascii: "0")
      else { return nil }
      numbers.append(value)
    }
    return numbers.count == 4 ? numbers : nil
  }
}
