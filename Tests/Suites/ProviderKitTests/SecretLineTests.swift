import ProviderKit
import SecretMemory
import TestSupport
import Testing

/// Secrets as password managers print them.
@Suite(.standardTimeLimit) struct SecretLineTests {
  @Test(arguments: [
    ("s3cret", "s3cret"), ("s3cret\r", "s3cret"), ("s3cret \t", "s3cret"), ("s3cret\r\n", "s3cret"),
    ("s3cret\nurl: https://op.example.com\nuser: cli", "s3cret"), ("s3cret\r\nuser: cli\r\n", "s3cret"),
    (" two words ", " two words"), ("pässwörd\n", "pässwörd"), ("s3cret\n\u{0}\u{1}", "s3cret"),
  ])
  func `a secret is the first line, without what stands at its end`(_ text: String, _ expected: String) throws {
    #expect(try SecretLine.first(of: try Secret(utf8: text)) == (try Secret(utf8: expected)))
  }

  @Test(arguments: ["\n", "\ns3cret", " \r\ns3cret", "\t"])
  func `an empty first line is none`(_ text: String) throws {
    let secret = try Secret(utf8: text)
    #expect(throws: SecretLine.Refusal.empty) { try SecretLine.first(of: secret) }
  }

  @Test(arguments: ["a\u{0}b", "a\tb", "\u{1B}[31ms3cret", "a\u{7F}", "a\rb\n"])
  func `a control character is part of no secret`(_ text: String) throws {
    let secret = try Secret(utf8: text)
    #expect(throws: SecretLine.Refusal.controlCharacter) { try SecretLine.first(of: secret) }
  }
}
