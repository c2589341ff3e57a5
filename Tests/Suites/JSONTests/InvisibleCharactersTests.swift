import TestSupport
import Testing

@testable import JSON

/// Characters that a terminal obeys or hides, in JSON texts that are printed.
@Suite(.standardTimeLimit) struct InvisibleCharactersTests {
  @Test func `the ranges are those of the general categories Cc, Cf, Zl and Zp`() {
    for value in UInt32(0x7F)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isInvisible =
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
      guard isInvisible != InvisibleCharacters.ranges.contains(where: { $0.contains(value) }) else { continue }
      Issue.record("U+\(String(value, radix: 16, uppercase: true)) is \(isInvisible ? "" : "not ")invisible")
    }
  }

  @Test(arguments: [
    (#"{"a":"b"}"#, #"{"a":"b"}"#), ("[\"\u{9B}31m\u{7F}\"]", #"["\u009b31m\u007f"]"#),
    ("[\"a\u{202E}b\u{200B}\u{2028}\u{FEFF}\"]", #"["a\u202eb\u200b\u2028\ufeff"]"#),
    ("{\"\u{AD}\":\"\u{E0041}é€😀\"}", #"{"\u00ad":"\udb40\udc41é€😀"}"#), ("[\"\\u202e\"]", #"["\u202e"]"#), ("", ""),
  ])
  func `they become escapes, and the meaning stays`(text: String, expected: String) throws {
    let escaped = InvisibleCharacters.escaped(in: Array(text.utf8))
    #expect(String(decoding: escaped, as: UTF8.self) == expected)
    guard !text.isEmpty else { return }
    let (before, after) = try (JSONDocument(parsing: Array(text.utf8)).root, JSONDocument(parsing: escaped).root)
    #expect(try Self.strings(before) == Self.strings(after))
  }

  @Test func `bytes that are no UTF-8 stay as they are`() {
    for bytes in [[0x22, 0xC2], [0x80, 0xFF], [0xF4, 0x90, 0x80, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      #expect(InvisibleCharacters.escaped(in: bytes).count >= bytes.count)
    }
  }

  private static func strings(_ node: JSONNode) throws -> [[Unicode.Scalar]] {
    switch node.kind {
    case .array: try node.elements().flatMap { try strings($0) }
    case .object: try node.members().flatMap { try [Array($0.name.unicodeScalars)] + strings($0.value) }
    default: [Array(try node.string().unicodeScalars)]
    }
  }
}
