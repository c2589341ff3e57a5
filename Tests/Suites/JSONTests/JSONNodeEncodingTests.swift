import JSON
import TestSupport
import Testing

/// Values that are written again as they were read.
@Suite(.standardTimeLimit) struct JSONNodeEncodingTests {
  @Test(arguments: [
    (" { \"a\" : [ 1 , 2.50 , -0 ] ,\n \"b\\u0041\" : { } } ", #"{"a":[1,2.50,-0],"b\u0041":{}}"#),
    ("[\n]", "[]"), (" \"a \\u00e9 b\" ", #""a \u00e9 b""#), ("\tnull\n", "null"), ("[true, false]", "[true,false]"),
    (#"[ "a \" b" , "\\" , " c " ]"#, #"["a \" b","\\"," c "]"#),
  ])
  func `white space between the parts goes, everything else stays`(_ text: String, _ compact: String) throws {
    var writer = JSONWriter()
    try JSONDocument(parsing: Array(text.utf8)).root.encode(to: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == compact)
  }
}
