import JSON
import TestSupport
import Testing

@testable import ProviderKit

/// Replies that are nearly JSON.
@Suite(.standardTimeLimit) struct ReplyObjectTests {
  private static let vital = VitalMembers(
    [["access"], ["tokens", "access"], ["expires_in"], ["refresh"], ["tokens", "refresh"]])

  /// What is read of a text, as JSON again; nil where nothing is.
  private func read(_ bytes: [UInt8]) -> String? {
    ReplyObject.withRoot(of: bytes, Self.vital) { root in String(decoding: root.text, as: UTF8.self) }
  }

  private func read(_ text: String) -> String? { read(Array(text.utf8)) }

  @Test(arguments: [
    ("\u{FEFF}{\"access\":\"a\"}", #"{"access":"a"}"#), ("\u{0}\n{\"access\":\"a\"}\u{0}", #"{"access":"a"}"#),
    (#"{"access":"a","x":1,"x":2}"#, #"{"access":"a","x":2}"#),
    (#"{"access":"a","access":"a"}"#, #"{"access":"a"}"#),
    (#"{"access":"a","acc\u0065ss":"b"}"#, #"{"acc\u0065ss":"\u0000"}"#),
    (#"{"access":"a","access":"b","refresh":"r"}"#, #"{"access":"\u0000","refresh":"r"}"#),
    (#"{"access":"a","expires_in":1,"expires_in":2}"#, #"{"access":"a","expires_in":"\u0000"}"#),
    (#"{"access":"a","x":"\ud83d!"}"#, #"{"access":"a","x":"?ud83d!"}"#),
    (#"{"access":"a","x":"\q"}"#, #"{"access":"a","x":"?q"}"#),
    ("{\"access\":\"a\",\"x\":\"b\u{1}\"}", #"{"access":"a","x":"b?"}"#),
    (#"{"access":"a\q"}"#, #"{"access":"\u0000"}"#), (#"{"access":"a","x":,}"#, #"{"access":"a","x":null}"#),
    (#"{"access":"a","x":nan,"y":[1,nan,{"z":01}]}"#, #"{"access":"a","x":null,"y":[1,null,{"z":null}]}"#),
    (#"{"access":"a" "b","refresh":"r"}"#, #"{"access":"\u0000","refresh":"r"}"#),
    (#"{"tokens":{"access":"a","access":"b","refresh":"r"}}"#, #"{"tokens":{"access":"\u0000","refresh":"r"}}"#),
    (#"{"tokens":{"access":"a"},"tokens":{"access":"b"}}"#, #"{"tokens":"\u0000"}"#),
  ])
  func `what is sound in one is read, and what is not is told from it`(_ text: String, _ expected: String) {
    #expect(read(text) == expected)
  }

  @Test(arguments: [
    "", "[", "<html>{\"access\":\"a\"}", "[{\"access\":\"a\"},]", #"{"access":"a"}{"access":"b"}"#, #"{"access":"a""#,
    #"{"access":"a","refresh":"r"#, "\"{}", String(repeating: "{\"a\":", count: 100),
    String(repeating: "x", count: 40) + "{}",
  ])
  func `what could be read in two ways, or may have lost a token, is not read`(_ text: String) {
    #expect(read(text) == nil)
  }

  @Test(
    arguments: [
      (#"<p>{}</p>{"a":1}{"access":"a","x":{"y":"}"}}<p>"#, #"{"access":"a","x":{"y":"}"}}"#),
      (#"<b>"</b>{"access":"a"}"#, #"{"access":"a"}"#),
      (#"x{ {"tokens":{"access":"a"}} }"#, #"{"tokens":{"access":"a"}}"#),
      (#"<p>{"refresh":"r"}</p>"#, nil), (#"<p>{"access":""}</p>"#, nil), (#"<p>{"access":{"a":"b"}}</p>"#, nil),
      (#"<p>{"x":{"access":"a"}}</p>"#, nil), (#"<p>{"access":"a",}</p>"#, nil),
      (#"<p>{"access":"a"}{"access":"b"}"#, nil), (#"<p>{"access":"a"}{"access":"a"}"#, #"{"access":"a"}"#),
    ] as [(String, String?)])
  func `an object in a page is read where it is the one with an access token`(_ text: String, _ expected: String?) {
    let vital = VitalMembers([], accessToken: [["access"], ["tokens", "access"]], refreshToken: [["refresh"]])
    let found = ReplyObject.withRoot(of: Array(text.utf8), vital) { String(decoding: $0.text, as: UTF8.self) }
    #expect(found == expected)
  }

  @Test func `a page of braces costs a few readings`() {
    let vital = VitalMembers([], accessToken: [["access"]])
    for text in ["{", "{\"", "{{}", "{\"a\":"] {
      let page = Array("<".utf8) + Array(repeatElement(Array(text.utf8), count: 100_000).joined())
      #expect(ReplyObject.withRoot(of: page, vital) { _ in true } == nil)
    }
  }

  @Test(arguments: ["{", "{\"a\":"]) func `so does one in which each brace has its end`(_ text: String) {
    let vital = VitalMembers([], accessToken: [["access"]])
    let count = (1 << 20) / (text.utf8.count + 1) - 1
    let page =
      Array("<".utf8) + Array(repeatElement(Array(text.utf8), count: count).joined())
      + Array(repeating: UInt8(ascii: "}"), count: count)
    #expect(ReplyObject.withRoot(of: page, vital) { _ in true } == nil)
  }

  @Test func `a script in a page does not use up what may be looked at`() {
    let vital = VitalMembers([], accessToken: [["access"]])
    let depth = 40
    let page =
      "<script>" + String(repeating: "if(a){\n", count: depth) + #"log({"access":"a"})"#
      + String(repeating: "}", count: depth) + "</script>"
    #expect(ReplyObject.withRoot(of: Array(page.utf8), vital) { _ in true } == true)
  }

  @Test func `bytes that are no UTF-8 cost nothing but themselves`() {
    let latin = Array(#"{"access":"a","name":"Ren"#.utf8) + [0xE9] + Array(#""}"#.utf8)
    #expect(read(latin) == #"{"access":"a","name":"Ren?"}"#)
    let broken = Array(#"{"access":"a"#.utf8) + [0xE9] + Array(#"","refresh":"r"}"#.utf8)
    #expect(read(broken) == #"{"access":"\u0000","refresh":"r"}"#)
    #expect(read(Array("{".utf8) + [0xFF] + Array(#""access":"a"}"#.utf8)) == #"{"access":"a"}"#)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `whatever is in a text, reading it gives an object or nothing`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let start = Array(#"{"access":"a","tokens":{"refresh":"r\n","x":[1,2,{"y":null}]},"expires_in":3600}"#.utf8)
    for _ in 0..<3000 {
      var text = start
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: text[index] = UInt8.random(in: 0...255, using: &random)
        case 1: text.remove(at: index)
        default: text.insert(#"{}[]",:\"#.utf8.randomElement(using: &random) ?? 0, at: index)
        }
      }
      if let found = read(text) {
        #expect((try? JSONDocument(parsing: Array(found.utf8))) != nil || found.contains("e"))
      }
    }
  }
}
