import JSONRPC
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ResponseWriterTests {
  @Test(arguments: ["1", "null", #""a\u0062\"""#, "1.50"])
  func `responses are the same bytes in both framings, but for the frame`(_ id: String) {
    let result = #"{"jsonrpc":"2.0","id":\#(id),"result":{"a":1}}"#
    let error = #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32601,"message":"é"}}"#
    for (text, isError, body) in [(result, false, #"{"a":1}"#), (error, true, #"{"code":-32601,"message":"é"}"#)] {
      for framing in [Framing.lines, .headers] {
        var output = Array("…".utf8)
        let writer = ResponseWriter(framing: framing)
        if isError {
          writer.appendError(Array(body.utf8).span, id: Array(id.utf8).span, to: &output)
        } else {
          writer.appendResult(Array(body.utf8).span, id: Array(id.utf8).span, to: &output)
        }
        let frame = framing == .lines ? text + "\n" : "Content-Length: \(text.utf8.count)\r\n\r\n" + text
        #expect(String(decoding: output, as: UTF8.self) == "…" + frame)
      }
      let entry = ResponseWriter.response(id: Array(id.utf8).span, isError: isError, body: Array(body.utf8).span)
      #expect(String(decoding: entry, as: UTF8.self) == text)
    }
  }

  @Test func `a message is framed by its count of bytes`() {
    var lines: [UInt8] = []
    var headers: [UInt8] = []
    Framing.lines.append(Array("\"é\"".utf8).span, to: &lines)
    Framing.headers.append(Array("\"é\"".utf8).span, to: &headers)
    #expect(lines == Array("\"é\"\n".utf8))
    #expect(headers == Array("Content-Length: 4\r\n\r\n\"é\"".utf8))
  }

  @Test func `framings are named as in capabilities`() {
    #expect(Framing.lines.name == "lines")
    #expect(Framing.headers.name == "headers")
  }
}
