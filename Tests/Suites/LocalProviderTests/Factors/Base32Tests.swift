import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Base 32 with the examples of RFC 4648, section 10.
@Suite(.standardTimeLimit) struct Base32Tests {
  private static let vectors = [
    ("", ""), ("f", "MY======"), ("fo", "MZXQ===="), ("foo", "MZXW6==="), ("foob", "MZXW6YQ="), ("fooba", "MZXW6YTB"),
    ("foobar", "MZXW6YTBOI======"),
  ]

  private static func decoded(_ text: String) throws -> String? {
    try Base32.decode(Secret(utf8: text))?.revealedString()
  }

  @Test(arguments: vectors)
  func `texts are those of the standard, without padding`(_ plain: String, _ text: String) throws {
    let encoded = try Base32.encode(Secret(utf8: plain)).revealedString()
    #expect(encoded == String(text.prefix { $0 != "=" }))
  }

  @Test(arguments: vectors)
  func `padding, blanks and small letters make no difference`(_ plain: String, _ text: String) throws {
    let groups = text.lowercased().map(String.init).joined(separator: " ")
    for spelling in [text, text.lowercased(), groups, " \(text)\n", String(text.prefix { $0 != "=" })] {
      #expect(try Self.decoded(spelling) == plain, "\(spelling)")
    }
  }

  @Test(arguments: ["0", "1", "8", "M", "MZX", "MZXW6Y", "MY=A", "MZ", "MZXR", "M-Y", "é", "MY\u{A0}"])
  func `what no bytes have is refused`(_ text: String) throws {
    #expect(try Base32.decode(Secret(utf8: text)) == nil)
  }

  @Test func `every length goes there and back`() throws {
    for count in 0..<70 {
      let secret = try RandomBytes.secret(count: count)
      #expect(try Base32.decode(Base32.encode(secret)) == secret)
    }
  }
}
