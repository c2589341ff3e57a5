import JSON

/// Repairs a body that is nearly a JSON object.
///
/// Bytes around the object are dropped; within it, bytes that no rule allows are dropped, or become a question mark
/// inside of a string. Of members of one name the last stands. A vital member that is not sound becomes
/// ``ReplyObject/unsound``: one whose value breaks the grammar, or that occurs more than once with different bytes.
struct ReplyRepair {
  private let vital: VitalMembers
  private var output: [UInt8] = []

  /// The text as an object; nil where it is too far from one.
  static func repaired(_ text: Span<UInt8>, _ vital: VitalMembers) -> [UInt8]? {
    var scanner = LooseScanner()
    guard let root = scanner.scan(text) else { return nil }
    var repair = ReplyRepair(vital: vital)
    // Room for the longest result, so that no copy stays behind unwiped: a byte in a list becomes `null` and a comma.
    repair.output.reserveCapacity(5 * text.count + 16)
    repair.write(root, text, [])
    return repair.output
  }

  private init(vital: VitalMembers) { self.vital = vital }

  private mutating func write(_ piece: LooseScanner.Piece, _ text: Span<UInt8>, _ path: [String]) {
    switch piece.form {
    case .sound: copy(text.extracting(piece.range))
    case .looseString: write(string: text.extracting(piece.range))
    case .unsound: copy("null".utf8.span)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        write(element, text, path + [""])
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      let kept = Self.lastOfEachName(members)
      for (index, member) in kept.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        copy(text.extracting(member.nameRange))
        output.append(UInt8(ascii: ":"))
        write(member, members, text, path + [member.name])
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private mutating func write(
    _ member: LooseScanner.Member, _ all: [LooseScanner.Member], _ text: Span<UInt8>, _ path: [String]
  ) {
    guard vital.contains(path) else { return write(member.value, text, path) }
    let isSound = all.allSatisfy { twin in
      twin.name != member.name || twin.value.isSound && Self.areEqual(twin.value.range, member.value.range, text)
    }
    // An object that has vital members is looked into, if it is there once.
    let isOnce = all.count { $0.name == member.name } == 1
    if isSound || isOnce && member.value.isContainer { return write(member.value, text, path) }
    copy(ReplyObject.unsound.utf8.span)
  }

  private static func areEqual(_ one: Range<Int>, _ other: Range<Int>, _ text: Span<UInt8>) -> Bool {
    one.count == other.count && (0..<one.count).allSatisfy { text[one.lowerBound + $0] == text[other.lowerBound + $0] }
  }

  private static func lastOfEachName(_ members: [LooseScanner.Member]) -> [LooseScanner.Member] {
    var seen: Set<String> = []
    return members.reversed().filter { seen.insert($0.name).inserted }.reversed()
  }

  private mutating func copy(_ bytes: Span<UInt8>) {
    for index in bytes.indices { output.append(bytes[index]) }
  }

  /// A string whose bytes or escapes break a rule, between its quotes.
  private mutating func write(string text: Span<UInt8>) {
    var index = 1
    output.append(UInt8(ascii: "\""))
    while index < text.count - 1 {
      let length = Self.soundLength(text, index)
      if length == 0 { output.append(UInt8(ascii: "?")) }
      for offset in 0..<length { output.append(text[index + offset]) }
      index += max(length, 1)
    }
    output.append(UInt8(ascii: "\""))
  }

  /// The length of the character or escape at an index that JSON allows; 0 where it allows none.
  private static func soundLength(_ text: Span<UInt8>, _ index: Int) -> Int {
    switch text[index] {
    case UInt8(ascii: "\\"): escapeLength(text, index)
    case 0x20...0x7F: 1
    case 0xC2...0xDF: characterLength(2, text, index)
    case 0xE0...0xEF: characterLength(3, text, index)
    case 0xF0...0xF4: characterLength(4, text, index)
    default: 0
    }
  }

  private static func characterLength(_ length: Int, _ text: Span<UInt8>, _ index: Int) -> Int {
    guard index + length < text.count else { return 0 }
    let bytes = (0..<length).map { text[index + $0] }
    return String(validating: bytes, as: UTF8.self) == nil ? 0 : length
  }

  private static func escapeLength(_ text: Span<UInt8>, _ index: Int) -> Int {
    guard index + 2 < text.count else { return 0 }
    guard text[index + 1] == UInt8(ascii: "u") else {
      return "\"\\/bfnrt".utf8.contains(text[index + 1]) ? 2 : 0
    }
    guard let unit = unit(text, index) else { return 0 }
    switch unit {
    case 0xD800...0xDBFF: return (0xDC00...0xDFFF).contains(self.unit(text, index + 6) ?? 0) ? 12 : 0
    case 0xDC00...0xDFFF: return 0
    default: return 6
    }
  }

  /// The value of the escape `\uXXXX` at an index; nil where there is none.
  private static func unit(_ text: Span<UInt8>, _ index: Int) -> UInt16? {
    guard index + 6 < text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    let digits = (2..<6).map { text[index + $0] }
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
