import Configuration
import ConfigurationFile
import JSON
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct JSON5TextTests {
  private func json(_ text: String) throws -> String {
    String(decoding: try JSON5Text(converting: Array(text.utf8)).json, as: UTF8.self)
  }

  @Test(arguments: [
    ("{}", "{}"), ("[]", "[]"), (" \t\r\n{ }\u{B}\u{C}\u{A0}\u{2028}\u{3000}", "{}"), ("\u{FEFF}{}", "{}"),
    ("// c\n{}", "{}"), ("{} // c", "{}"), ("{/* a\n * b **/}", "{}"), ("{/**/}", "{}"), ("// c\r{}", "{}"),
    ("// c\u{2028}{}", "{}"), ("{a:1}", #"{"a":1}"#), ("{a:1,}", #"{"a":1}"#), ("[1,]", "[1]"),
    ("[1, // one\n 2, // two\n]", "[1,2]"), ("{_$a9:1}", #"{"_$a9":1}"#), ("{true:1,null:2}", #"{"true":1,"null":2}"#),
    ("{'a':'b'}", #"{"a":"b"}"#), (#"{"a":"b"}"#, #"{"a":"b"}"#), (#"'say "x"'"#, #""say \"x\"""#),
    (#"'it\'s'"#, #""it's""#), (#""it's""#, #""it's""#), (#"'\a\q\é'"#, #""aqé""#),
    (#"'\x41\v\0'"#, #""\u0041\u000b\u0000""#),
    (#"'\u00e9\n\\\/'"#, #""\u00e9\n\\/""#), ("'a\\\nb'", #""ab""#), ("'a\\\r\nb'", #""ab""#),
    ("'a\\\u{2029}b'", #""ab""#),
    ("'tab\tin'", #""tab\u0009in""#), ("'// no comment'", #""// no comment""#), ("[0x1F,0XfF,-0x10]", "[31,255,-16]"),
    ("[+1,-1,.5,5.,-.5,+.5e1,1E3,1e-3]", "[1,-1,0.5,5,-0.5,0.5e1,1e3,1e-3]"),
    ("[true,false,null]", "[true,false,null]"),
    ("{a:{b:[{c:'d'},],},}", #"{"a":{"b":[{"c":"d"}]}}"#), ("1", "1"), ("{a\u{2003}:1}", #"{"a":1}"#),
  ])
  func `a text becomes the JSON that means the same`(_ text: String, _ expected: String) throws {
    #expect(try json(text) == expected)
    _ = try JSONDocument(parsing: Array(expected.utf8))
  }

  @Test(arguments: [
    ("", "the file is empty"),
    ("// only\n", "the file is empty"),
    ("{", "this { is not closed"), ("{a:[1}", "this bracket closes none that is open"),
    ("}", "this bracket closes none that is open"), ("{}}", "this bracket closes none that is open"),
    ("{,}", "unexpected comma"), ("[,]", "unexpected comma"), ("[1,,2]", "unexpected comma"),
    ("[1,,]", "unexpected comma"), ("{},", "unexpected comma"),
    ("{a:,}", "unexpected comma"),
    ("{a::1}", "unexpected colon"), ("[1:2]", "unexpected colon"), (":", "unexpected colon"),
    ("{a}", "expected a value before this"), ("{a:}", "expected a value before this"),
    ("{a 1}", "expected a colon before this"), ("{a b:1}", "expected a colon before this"),
    ("{a:1 b:2}", "expected a comma before this"), ("[1 2]", "expected a comma before this"),
    ("['a' 'b']", "expected a comma before this"), ("[{}{}]", "expected a comma before this"),
    ("{} {}", "unexpected text behind the configuration"), ("{[]:1}", "expected a key"),
    ("{1a:1}", "a key that begins with a digit or a sign must be quoted"),
    ("{é:1}", "a key with other letters than a to z, A to Z, _ and $ must be quoted"),
    ("{aé:1}", "a key with other letters than a to z, A to Z, _ and $ must be quoted"),
    ("{a-b:1}", "a key with other letters than a to z, A to Z, _ and $ must be quoted"),
    ("{a.b:1}", "a key with other letters than a to z, A to Z, _ and $ must be quoted"),
    ("{\\u0061:1}", "unexpected character \\"), ("{a:info}", "expected a quoted string"),
    ("{a:True}", "expected a quoted string"), ("[NaN]", "NaN means nothing in a configuration"),
    ("[Infinity]", "Infinity means nothing in a configuration"),
    ("[-Infinity]", "a number is malformed; Infinity and NaN mean nothing in a configuration"),
    ("[.]", "a number is malformed"), ("[+]", "a number is malformed"), ("[-]", "a number is malformed"),
    ("[1.2.3]", "a number is malformed"),
    ("[1a]", "a number is malformed"), ("[0x]", "a number is malformed"), ("[0xG]", "a number is malformed"),
    ("[0x10000000000000000]", "a number is out of range"), ("[1-2]", "a number is malformed"),
    ("'a", "a string is not closed"), ("'a\\", "a string is not closed"),
    ("'a\n'", "a string is not closed before the end of its line"),
    (#"'\1'"#, #"an escape with a digit must be written \x or \u"#),
    (#"'\01'"#, #"an escape with a digit must be written \x or \u"#),
    (#"'\xG0'"#, #"\x must be followed by two hexadecimal digits"#), ("/* a", "a comment is not closed"),
    ("/*/", "a comment is not closed"),
    ("/ a", "unexpected character /"), ("/", "unexpected character /"),
    ("[#]", "unexpected character #"), ("[é]", "unexpected character é"),
  ])
  func `what is no JSON5 is refused with a sentence of its own`(_ text: String, _ message: String) {
    let error = #expect(throws: JSON5Error.self) { try JSON5Text(converting: Array(text.utf8)) }
    #expect(error?.message == message)
    #expect((0...text.utf8.count).contains(error?.offset ?? -1))
  }

  @Test(arguments: ["[01]", "[1e]", "[1e+]", "[1e400]", #"['\uD800']"#, #"['\u00G0']"#, "{a:1,'a':2}"])
  func `what only the strict scanner can tell is left to it`(_ text: String) throws {
    let converted = try JSON5Text(converting: Array(text.utf8))
    #expect(throws: JSONError.self) { try JSONDocument(parsing: converted.json) }
  }

  @Test func `every byte of the output knows its place in the source`() throws {
    let source = "{\r\n  // é\r\n  'é': [1,\n\t{b: 'x\\\ny'},\r],\n}"
    let text = try JSON5Text(converting: Array(source.utf8))
    #expect(String(decoding: text.json, as: UTF8.self) == #"{"é":[1,{"b":"xy"}]}"#)
    let places = text.json.indices.map { text.position(ofJSONByte: $0) }.map { "\($0.line):\($0.column)" }
    // The é has two bytes in the output, and one column in the source.
    #expect(
      places == [
        "1:1", "3:3", "3:3", "3:3", "3:3", "3:6", "3:8", "3:9", "3:10", "4:2", "4:3", "4:3", "4:3", "4:4", "4:6", "4:6",
        "4:6", "4:6", "5:3", "6:1", "7:1",
      ])
  }

  @Test func `every byte of the output knows its path`() throws {
    let text = try JSON5Text(converting: Array("{a:{b:1,c:[true,{d:'x'}]},e:2}".utf8))
    let json = String(decoding: text.json, as: UTF8.self)
    for (mark, path) in [("1", "a.b"), ("true", "a.c.0"), ("\"x\"", "a.c.1.d"), ("2", "e"), ("\"c\"", "a.c")] {
      let range = try #require(json.range(of: mark))
      #expect(text.path(toJSONByte: range).joined(separator: ".") == path)
    }
  }

  @Test func `damaged texts are converted or refused`() {
    var random = SeededGenerator(seed: 0x150)
    let seed = Array(
      "// c\n{ logLevel: 'in\\x66o', /* x */ profiles: { \"a\": {provider: 'local',}, }, n: [0x1F, +.5, 1e3], }\n".utf8)
    for _ in 0..<20000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
        default: bytes.removeSubrange((place + 1)...)
        }
      }
      _ = try? BrokerConfiguration.parse(bytes, file: "c", environment: [:])
    }
  }
}

extension String {
  /// Where a text begins, in bytes.
  fileprivate func range(of text: String) -> Int? {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    return (0...max(0, bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
  }
}
