import BrokerCore
import SecretMemory
import TestSupport
import Testing

/// Codes as people type them.
@Suite(.standardTimeLimit) struct TypedCodeTests {
  private static func normalized(_ typed: String, _ dashes: TypedCode.Dashes = .removed) throws -> String? {
    try TypedCode.normalized(ScriptedProvider.secret(typed), dashes).revealedString()
  }

  /// Every character that Unicode calls white space, or a dash, as a test of ours says it (Unicode 15, PropList.txt).
  @Test func `each blank and dash of Unicode is left out, and no other character`() throws {
    for value in UInt32(1)...0xFFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = try Self.normalized("1\(scalar)2")
      if scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation {
        #expect(text == "12" || Self.rareDashes.contains(value), "U+\(String(value, radix: 16))")
      } else if text == "12" {
        #expect(Self.others.contains(value), "U+\(String(value, radix: 16))")
      }
    }
  }

  /// Dashes of scripts whose writers do not group digits with them.
  private static let rareDashes: Set<UInt32> = [
    0x058A, 0x05BE, 0x1400, 0x1806, 0x2E17, 0x2E1A, 0x2E40, 0x2E5D, 0x301C, 0x3030, 0x30A0, 0xFE31, 0xFE32,
  ]
  /// What looks like a blank or a dash, and is called something else.
  private static let others: Set<UInt32> = [
    0xAD, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2043, 0x2060,
    0x207B,
    0x208B, 0x2212, 0x30FC, 0xFEFF,
  ]

  @Test(arguments: [
    ("aaaa-bbbb", "aaaa-bbbb"), (" aaaa\u{2013}bbbb ", "aaaa-bbbb"), ("aaaa bbbb", "aaaabbbb"),
    ("\u{AD}a\u{2212}b", "-a-b"),
  ])
  func `a dash that may be part of a code becomes the one of ASCII`(_ typed: String, _ code: String) throws {
    #expect(try Self.normalized(typed, .kept) == code)
  }

  @Test(arguments: ["", "123456", "日本語", "\u{C2}\u{A9}", "é\u{301}"])
  func `what has none of them stays as it is`(_ typed: String) throws {
    #expect(try Self.normalized(typed) == typed)
  }

  @Test func `bytes that are no text are left alone`() throws {
    for bytes: [UInt8] in [[0xE2], [0xE2, 0x80], [0xC2], [0xFF, 0x20, 0x31], [0xC2, 0x31], [0xE2, 0x31, 0x32]] {
      let code = try TypedCode.normalized(Secret(copying: bytes.span))
      let kept = code.withBytes { span in span.indices.map { span[$0] } }
      #expect(kept == bytes.filter { $0 != 0x20 })
    }
  }
}
