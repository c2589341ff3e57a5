import TestSupport
import Testing
import TextCoding

@Suite(.standardTimeLimit) struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `both forms give the published answers`(plain: String, padded: String) {
    // RFC 4648, section 10; base64url without padding
    let (bytes, url) = (Array(plain.utf8), Array(padded.utf8.prefix { $0 != UInt8(ascii: "=") }))
    #expect(Base64.encode(bytes: bytes, as: .padded) == Array(padded.utf8))
    #expect(Base64.encode(bytes: bytes, as: .url) == url)
    #expect(Base64.characterCount(of: bytes.count, as: .padded) == padded.utf8.count)
    #expect(Base64.characterCount(of: bytes.count, as: .url) == url.count)
    #expect(Base64.byteCount(ofURLForm: url.count) == bytes.count)
    #expect(Base64.decodeURLForm(text: url) == bytes)
    #expect(Base64.decodeAnyForm(text: Array(padded.utf8)) == bytes)
  }

  @Test func `each form has its own last two characters, and every byte is read back`() {
    let odd: [UInt8] = [0xFB, 0xFF]
    #expect(Base64.encode(bytes: odd, as: .url) == Array("-_8".utf8))
    #expect(Base64.encode(bytes: odd, as: .padded) == Array("+/8=".utf8))
    var generator = SystemRandomNumberGenerator()
    for count in 0..<70 {
      let original = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let (url, padded) = (Base64.encode(bytes: original, as: .url), Base64.encode(bytes: original, as: .padded))
      #expect(Base64.isURLForm(text: url))
      #expect(Base64.decodeURLForm(text: url) == original)
      #expect(Base64.decodeAnyForm(text: url) == original)
      #expect(Base64.decodeAnyForm(text: padded) == original)
    }
  }

  @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "+/8", "Zg\n", " Zg", "Zm9vY", "Z\u{0}8A", "Zé"])
  func `base64url that no encoder writes is refused`(text: String) {
    let characters = Array(text.utf8)
    #expect(!Base64.isURLForm(text: characters))
    #expect(Base64.decodeURLForm(text: characters) == nil)
  }

  @Test func `room of another size is not filled`() {
    var room: [UInt8] = [1, 2, 3]
    var output = room.mutableSpan
    let isTaken = Base64.decodeURLForm(Array("Zg".utf8).span, into: &output)
    #expect(!isTaken)
    #expect(room == [1, 2, 3])
  }

  @Test func `of all bytes, the 64 characters of the alphabet stand for something`() {
    let all = (0...UInt8.max).filter { Base64.isURLForm(text: [$0, UInt8(ascii: "A")]) || $0 == 0 }
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    #expect(Set(all).subtracting([0]) == alphabet)
    for byte in UInt8.min...UInt8.max {
      let either = alphabet.contains(byte) || "+/=".utf8.contains(byte)
      #expect((Base64.decodeAnyForm(text: [byte]) != nil) == either)
    }
  }
}

/// The macros of the tests take no spans.
extension Base64 {
  fileprivate static func encode(bytes: [UInt8], as form: Form) -> [UInt8] { encode(bytes.span, as: form) }
  fileprivate static func decodeURLForm(text: [UInt8]) -> [UInt8]? { decodeURLForm(text.span) }
  fileprivate static func decodeAnyForm(text: [UInt8]) -> [UInt8]? { decodeAnyForm(text.span) }
  fileprivate static func isURLForm(text: [UInt8]) -> Bool { isURLForm(text.span) }
}
