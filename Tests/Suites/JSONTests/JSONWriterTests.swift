import JSON
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func `commas stand between members and elements and nowhere else`() {
    let text = written { writer in
      writer.object { writer in
        writer.member("a", 1)
        writer.member(ifPresent: "b", String?.none)
        writer.member(ifPresent: "c", true)
        writer.key("d")
        writer.array { writer in
          writer.null()
          writer.array { _ in }
          writer.object { _ in }
          writer.raw(Array("[0]".utf8))
          writer.raw(Array("1".utf8).span)
          writer.integer(2)
        }
        writer.member("e", ["x", "y"])
        writer.key("f")
        writer.object { writer in writer.member("g", "") }
        writer.member("h", false)
      }
    }
    #expect(text == #"{"a":1,"c":true,"d":[null,[],{},[0],1,2],"e":["x","y"],"f":{"g":""},"h":false}"#)
  }

  @Test(arguments: [
    ("plain", #""plain""#), ("\"\\/", #""\"\\/""#), ("\n\r\t", #""\n\r\t""#), ("\u{8}\u{C}", #""\u0008\u000c""#),
    ("\u{0}\u{1}\u{1F}\u{7F}", #""\u0000\u0001\u001f\u007f""#), ("é€😀", "\"é€😀\""),
    ("\u{85}\u{2028}", "\"\u{85}\u{2028}\""), ("", #""""#),
  ])
  func `strings are escaped as RFC 8259 asks`(_ value: String, _ expected: String) throws {
    #expect(written { $0.string(value) } == expected)
    #expect(written { $0.string(utf8: Array(value.utf8).span) } == expected)
    #expect(try JSONDocument(expected).root.string() == value)
  }

  @Test(arguments: [
    (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-3.0, "-3"), (0.5, "0.5"), (1e15, "1000000000000000"),
    (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
  ])
  func `numbers are short, and null where JSON has none`(_ value: Double, _ expected: String) {
    #expect(written { $0.number(value) } == expected)
  }

  @Test(arguments: [0.1, 1e-7, 1e22, Double.leastNonzeroMagnitude, 1.7976931348623157e308, -123.456, 1e18, 1e19])
  func `a number that was written reads as the same number`(_ value: Double) throws {
    let text = written { $0.number(value) }
    #expect(try JSONDocument(text).root.number() == value)
  }

  @Test(arguments: [0, 1, -1, Int64.max, Int64.min])
  func `a whole number that was written reads as the same number`(_ value: Int64) throws {
    #expect(try JSONDocument(written { $0.integer(value) }).root.integer() == value)
  }

  @Test func `a writer goes on behind what stands in its buffer`() {
    var writer = JSONWriter(appendingTo: Array("x".utf8))
    writer.array { $0.bool(true) }
    #expect(writer.bytes == Array("x[true]".utf8))
  }
}
