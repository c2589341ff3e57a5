import JSON
import TestSupport
import Testing

/// The scanner against RFC 8259, in the spirit of the public suites: what must be read, and what must not.
@Suite(.standardTimeLimit) struct JSONTapeTests {
  private static let numbers: [ScannerCase] = [
    .valid("0"), .valid("-0"), .valid("1"), .valid("-1"), .valid("10"), .valid("1234567890"),
    .valid("9223372036854775807"), .valid("-9223372036854775808"), .valid("0.0"), .valid("-0.0"), .valid("0.5"),
    .valid("1.25e2"), .valid("1e5"), .valid("1E5"), .valid("1e+5"), .valid("1e-5"), .valid("0e0"), .valid("0e+1"),
    .valid("1e308"), .valid("1.7976931348623157e308"), .valid("5e-324"), .valid("1e-400"), .valid("20e1"),
    .valid("123.456e-7"), .valid("9223372036854775808.0"), .valid("0.00000000000000000000000000000000000001"),
    .invalid("9223372036854775808", .numberOutOfRange), .invalid("-9223372036854775809", .numberOutOfRange),
    .invalid("18446744073709551616", .numberOutOfRange), .invalid("100000000000000000000", .numberOutOfRange),
    .invalid("1e309", .numberOutOfRange), .invalid("1e400", .numberOutOfRange), .invalid("-1e400", .numberOutOfRange),
    .invalid("1e99999999999999999999", .numberOutOfRange),
    .invalid(String(repeating: "9", count: 400), .numberOutOfRange),
    .invalid(String(repeating: "9", count: 400) + ".5", .numberOutOfRange),
    .invalid("-", .unexpectedEnd), .invalid("+1", .unexpectedByte), .invalid("--1", .invalidNumber),
    .invalid("01", .invalidNumber), .invalid("-01", .invalidNumber), .invalid("00", .invalidNumber),
    .invalid("012", .invalidNumber), .invalid("1.", .unexpectedEnd), .invalid("-1.", .unexpectedEnd),
    .invalid(".5", .unexpectedByte), .invalid("-.5", .invalidNumber), .invalid("1.e1", .invalidNumber),
    .invalid("1e", .unexpectedEnd), .invalid("1e+", .unexpectedEnd), .invalid("1E-", .unexpectedEnd),
    .invalid("1eE2", .invalidNumber), .invalid("1.5.2", .trailingData), .invalid("0x10", .trailingData),
    .invalid("1 000", .trailingData), .invalid("1,000", .trailingData), .invalid("1_000", .trailingData),
    .invalid("1a", .trailingData), .invalid("NaN", .unexpectedByte), .invalid("Infinity", .unexpectedByte),
    .invalid("-Infinity", .invalidNumber), .invalid("[1.0e]", .invalidNumber), .invalid("[-a]", .invalidNumber),
    .invalid("[-", .unexpectedEnd), .invalid("[1.]", .invalidNumber), .invalid("[1e", .unexpectedEnd),
    .invalid("[1+2]", .unexpectedByte), .invalid("\u{FF11}", .unexpectedByte),
  ]

  private static let strings: [ScannerCase] = [
    .valid(#""""#), .valid(#""a""#), .valid(#""\"\\\/\b\f\n\r\t""#), .valid(#""\u0000""#), .valid(#""\u001F""#),
    .valid(#""\u00e9\u00E9""#), .valid(#""\uFFFF""#), .valid(#""\uD7FF\uE000""#), .valid(#""\uD834\uDD1E""#),
    .valid(#""\ud83d\ude00x""#), .valid(#""\uDBFF\uDFFF""#), .valid("\"\u{7F}\""), .valid("\"\u{85}\u{2028}\u{2029}\""),
    .valid("\"é€\u{1D11E}\u{10FFFF}\""), .valid("\"\u{FFFE}\u{FFFF}\u{FEFF}\""), .valid(#""/* no comment */""#),
    .valid(#""\\u0061""#), .valid(#""\\\\""#), .valid("\"" + String(repeating: "x", count: 70000) + "\""),
    .invalid(#"""#, .unexpectedEnd), .invalid(#""a"#, .unexpectedEnd), .invalid(#""a\"#, .unexpectedEnd),
    .invalid(#""\""#, .unexpectedEnd), .invalid(#""\\\""#, .unexpectedEnd), .invalid("'a'", .unexpectedByte),
    .invalid(#""\a""#, .invalidEscape), .invalid(#""\'""#, .invalidEscape), .invalid(#""\x41""#, .invalidEscape),
    .invalid(#""\0""#, .invalidEscape), .invalid(#""\U0041""#, .invalidEscape), .invalid(#""\u""#, .invalidEscape),
    .invalid(#""\u00""#, .invalidEscape), .invalid(#""\u00G0""#, .invalidEscape),
    .invalid(#""\u+041""#, .invalidEscape),
    .invalid(#""\u 041""#, .invalidEscape), .invalid(#""\u004"#, .unexpectedEnd), .invalid(#""\u"#, .unexpectedEnd),
    .invalid("\"\\\u{E9}\"", .invalidEscape), .invalid("\"\\\n\"", .invalidEscape),
    .invalid(#""\uD800""#, .loneSurrogate), .invalid(#""\uDC00""#, .loneSurrogate),
    .invalid(#""\uDFFF""#, .loneSurrogate), .invalid(#""\uDC00"#, .loneSurrogate),
    .invalid(#""\uD834"#, .unexpectedEnd), .invalid(#""\uD834\"#, .unexpectedEnd),
    .invalid(#""\uD834\u"#, .unexpectedEnd), .invalid(#""\uD834\uDD1"#, .unexpectedEnd),
    .invalid(#""\uD834x""#, .loneSurrogate), .invalid(#""\uD834\n""#, .loneSurrogate),
    .invalid(#""\uD834\uD834""#, .loneSurrogate), .invalid(#""\uD834\u0041""#, .loneSurrogate),
    .invalid(#""\uDD1E\uD834""#, .loneSurrogate), .invalid(#""\uD834\uZZZZ""#, .invalidEscape),
    .invalid("\"\u{0}\"", .controlCharacter), .invalid("\"\n\"", .controlCharacter),
    .invalid("\"\r\"", .controlCharacter),
    .invalid("\"\t\"", .controlCharacter), .invalid("\"\u{1F}\"", .controlCharacter),
    .invalid("\"\u{B}\"", .controlCharacter),
    .invalid(#""a" "b""#, .trailingData), .invalid(#"\u0061"#, .unexpectedByte),
  ]

  private static let encodings: [ScannerCase] = [
    .valid(bytes: [0x22, 0xC2, 0x80, 0x22]), .valid(bytes: [0x22, 0xDF, 0xBF, 0x22]),
    .valid(bytes: [0x22, 0xE0, 0xA0, 0x80, 0x22]), .valid(bytes: [0x22, 0xED, 0x9F, 0xBF, 0x22]),
    .valid(bytes: [0x22, 0xEE, 0x80, 0x80, 0x22]), .valid(bytes: [0x22, 0xF0, 0x90, 0x80, 0x80, 0x22]),
    .valid(bytes: [0x22, 0xF4, 0x8F, 0xBF, 0xBF, 0x22]),
    // Overlong forms.
    .invalid(string: [0xC0, 0x80]), .invalid(string: [0xC0, 0xAF]), .invalid(string: [0xC1, 0xBF]),
    .invalid(string: [0xE0, 0x80, 0xAF]), .invalid(string: [0xE0, 0x9F, 0xBF]),
    .invalid(string: [0xF0, 0x80, 0x80, 0xAF]), .invalid(string: [0xF0, 0x8F, 0xBF, 0xBF]),
    // Surrogates, and what lies behind U+10FFFF.
    .invalid(string: [0xED, 0xA0, 0x80]), .invalid(string: [0xED, 0xBF, 0xBF]),
    .invalid(string: [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]), .invalid(string: [0xF4, 0x90, 0x80, 0x80]),
    .invalid(string: [0xF5, 0x80, 0x80, 0x80]), .invalid(string: [0xF8, 0x88, 0x80, 0x80, 0x80]),
    .invalid(string: [0xFE]), .invalid(string: [0xFF]), .invalid(string: [0xFF, 0xFE]),
    // Truncated and stray bytes.
    .invalid(string: [0x80]), .invalid(string: [0xBF]), .invalid(string: [0xC3]), .invalid(string: [0xE2, 0x82]),
    .invalid(string: [0xF0, 0x9F, 0x98]), .invalid(string: [0xE2, 0x28, 0xA1]), .invalid(string: [0xC3, 0x28]),
    .invalid(string: [0xF0, 0x9F, 0x98, 0x28]), .invalid(string: [0x61, 0xE9, 0x62]),
    .invalid(bytes: [0x22, 0xC3], .unexpectedEnd), .invalid(bytes: [0x22, 0xE2, 0x82], .unexpectedEnd),
    .invalid(bytes: [0x22, 0xF0], .unexpectedEnd), .invalid(bytes: [0x22, 0xF0, 0x9F, 0x98], .unexpectedEnd),
    .invalid(bytes: [0x22, 0xE2, 0x28], .invalidUTF8), .invalid(bytes: [0x22, 0xF0, 0x8F], .invalidUTF8),
    .invalid(bytes: [0xC3, 0xA9], .unexpectedByte), .invalid(bytes: [0x5B, 0xFF, 0x5D], .unexpectedByte),
    // Other encodings, and byte order marks.
    .invalid(bytes: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], .unexpectedByte),
    .invalid(bytes: [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], .unexpectedByte),
    .invalid(bytes: [0x00, 0x7B, 0x00, 0x7D], .unexpectedByte), .invalid(bytes: [0x7B, 0x7D, 0x00], .trailingData),
    .invalid(bytes: [0x5B, 0x00, 0x5D], .unexpectedByte),
    .invalid(bytes: [0x7B, 0x7D, 0xEF, 0xBB, 0xBF], .trailingData),
  ]

  private static let structures: [ScannerCase] = [
    .valid("null"), .valid("true"), .valid("false"), .valid("[]"), .valid("{}"), .valid(" \t\r\n[ \t\r\n] \t\r\n"),
    .valid("[null,true,false,1,\"a\",[],{}]"), .valid(#"{"":0}"#), .valid(#"{"a":{"b":[{"c":null}]}}"#),
    .valid(#"{ "a" : 1 , "b" : 2 }"#), .valid("[[],[[]],{}]"),
    .invalid("", .unexpectedEnd), .invalid("   ", .unexpectedEnd), .invalid("\n", .unexpectedEnd),
    .invalid("[", .unexpectedEnd), .invalid("{", .unexpectedEnd), .invalid("[1", .unexpectedEnd),
    .invalid("[1,", .unexpectedEnd), .invalid(#"{"a""#, .unexpectedEnd), .invalid(#"{"a":"#, .unexpectedEnd),
    .invalid(#"{"a":1"#, .unexpectedEnd), .invalid(#"{"a":1,"#, .unexpectedEnd), .invalid("tru", .unexpectedEnd),
    .invalid("]", .unexpectedByte), .invalid("}", .unexpectedByte), .invalid("[}", .unexpectedByte),
    .invalid("{]", .unexpectedByte), .invalid("[1}", .unexpectedByte), .invalid(#"{"a":1]"#, .unexpectedByte),
    .invalid("[,]", .unexpectedByte), .invalid("[1,]", .unexpectedByte), .invalid("[,1]", .unexpectedByte),
    .invalid("[1,,2]", .unexpectedByte), .invalid("[1 2]", .unexpectedByte), .invalid("[1:2]", .unexpectedByte),
    .invalid("{,}", .unexpectedByte), .invalid(#"{"a":1,}"#, .unexpectedByte), .invalid(#"{"a"}"#, .unexpectedByte),
    .invalid(#"{"a",1}"#, .unexpectedByte), .invalid(#"{"a":}"#, .unexpectedByte),
    .invalid(#"{"a"::1}"#, .unexpectedByte),
    .invalid(#"{"a":1 "b":2}"#, .unexpectedByte), .invalid("{a:1}", .unexpectedByte),
    .invalid("{1:1}", .unexpectedByte),
    .invalid("{null:1}", .unexpectedByte), .invalid("{[]:1}", .unexpectedByte), .invalid("{'a':1}", .unexpectedByte),
    .invalid("[] []", .trailingData), .invalid("{}{}", .trailingData), .invalid("[]]", .trailingData),
    .invalid("{}}", .trailingData), .invalid("null null", .trailingData), .invalid("{} // c", .trailingData),
    .invalid("// c\n{}", .unexpectedByte), .invalid("[/* c */]", .unexpectedByte), .invalid("[1]#", .trailingData),
    .invalid("True", .unexpectedByte), .invalid("nul1", .unexpectedByte), .invalid("nulll", .trailingData),
    .invalid("undefined", .unexpectedByte), .invalid("\u{A0}[]", .unexpectedByte), .invalid("\u{C}[]", .unexpectedByte),
    .invalid("\u{B}[]", .unexpectedByte), .invalid("[]\u{2028}", .trailingData),
    .invalid("\u{2060}[]", .unexpectedByte),
  ]

  private static let duplicates: [ScannerCase] = [
    .invalid(#"{"a":1,"a":1}"#, .duplicateName), .invalid(#"{"a":1,"\u0061":2}"#, .duplicateName),
    .invalid(#"{"\u0061":1,"a":2}"#, .duplicateName), .invalid(#"{"\u0061":1,"\u0061":2}"#, .duplicateName),
    .invalid(#"{"":1,"":2}"#, .duplicateName), .invalid(#"{"a":{"b":1,"b":2}}"#, .duplicateName),
    .invalid(#"[{"a":1},{"b":1,"a":1,"b":2}]"#, .duplicateName),
    .invalid(#"{"😀":1,"\uD83D\ude00":2}"#, .duplicateName), .invalid(#"{"/":1,"\/":2}"#, .duplicateName),
    .valid(#"{"a":1,"A":1}"#), .valid(#"{"a":1,"b":{"a":1}}"#), .valid(#"[{"a":1},{"a":1}]"#),
    .valid(#"{"a":"a","b":"a"}"#), .valid(#"{"a":1,"a ":2,"a\u0000":3}"#),
    // é as one character and as two: canonically equivalent, yet different names.
    .valid("{\"\u{E9}\":1,\"e\u{301}\":2}"), .valid("{\"\u{212B}\":1,\"\u{C5}\":2}"),
  ]

  @Test(arguments: numbers)
  func `numbers follow the grammar and fit 64 bits`(_ sample: ScannerCase) { check(sample) }

  @Test(arguments: strings)
  func `strings have known escapes and whole surrogate pairs`(_ sample: ScannerCase) { check(sample) }

  @Test(arguments: encodings)
  func `only shortest-form UTF-8 is read`(_ sample: ScannerCase) { check(sample) }

  @Test(arguments: structures)
  func `values are separated and closed as the grammar wants`(_ sample: ScannerCase) { check(sample) }

  @Test(arguments: duplicates)
  func `names are compared as the bytes they stand for`(_ sample: ScannerCase) { check(sample) }

  private func check(_ sample: ScannerCase, _ limits: JSONLimits = .standard) {
    do {
      _ = try JSONDocument(parsing: sample.bytes, limits: limits)
      #expect(sample.reason == nil)
    } catch {
      #expect(error.reason == sample.reason)
      #expect((0...sample.bytes.count).contains(error.offset))
    }
  }

  @Test(arguments: [2, 7, 8, 9, 15, 16, 17, 40])
  func `a duplicate is found among any number of names`(_ count: Int) throws {
    let names = (0..<count).map { "\"name\($0)\":\($0)" }
    _ = try JSONDocument("{\(names.joined(separator: ","))}")
    for twin in 0..<count {
      let text = "{\(names.joined(separator: ",")),\"\\u006eame\(twin)\":0}"
      #expect(throws: JSONError.self) { try JSONDocument(text) }
    }
  }

  @Test(arguments: [(63, true), (64, true), (65, false)])
  func `nesting is bounded exactly`(_ depth: Int, _ isValid: Bool) {
    let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let objects = String(repeating: #"{"a":"#, count: depth) + "0" + String(repeating: "}", count: depth)
    for text in [arrays, objects] {
      check(isValid ? .valid(text) : .invalid(text, .tooDeep))
    }
  }

  @Test func `depth counts what is open, not what was`() throws {
    let text = "[" + Array(repeating: "[[]]", count: 500).joined(separator: ",") + "]"
    _ = try JSONDocument(parsing: Array(text.utf8), limits: JSONLimits(depth: 3, byteCount: 10000))
  }

  @Test func `a hundred thousand open brackets end at the limit`() {
    let text = String(repeating: "[", count: 100_000)
    let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
    #expect(error == JSONError(.tooDeep, at: 64))
  }

  @Test(arguments: [(9, true), (10, true), (11, false)])
  func `the size of a text is bounded exactly`(_ count: Int, _ isValid: Bool) {
    let bytes = Array(("\"" + String(repeating: "x", count: count - 2) + "\"").utf8)
    let limits = JSONLimits(depth: 1, byteCount: 10)
    check(isValid ? .valid(bytes: bytes) : .invalid(bytes: bytes, .tooLong), limits)
  }

  @Test func `a tape is used again without remembering the last text`() throws {
    var tape = JSONTape()
    try tape.scan(Array(#"{"a":[1,2,3]}"#.utf8).span)
    #expect(tape.entries.count == 6)
    #expect(throws: JSONError.self) { try tape.scan(Array("[[[".utf8).span) }
    try tape.scan(Array("true".utf8).span)
    #expect(tape.entries.map(\.kind) == [.true])
  }

  @Test func `every prefix of a valid text is refused or another valid text`() {
    let bytes = Array(#"{"a":[1,-2.5e3,"\u0041\uD834\uDD1Eé"],"b":{"c":null,"d":true}}"#.utf8)
    for count in 0..<bytes.count {
      #expect(throws: JSONError.self) { try JSONDocument(parsing: Array(bytes[..<count])) }
    }
  }
}
