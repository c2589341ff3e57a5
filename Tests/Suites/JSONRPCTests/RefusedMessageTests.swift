import JSONRPC
import TestSupport
import Testing

/// Which ids a message is refused by that is not read as a whole.
@Suite(.standardTimeLimit) struct RefusedMessageTests {
  private static func ids(_ text: String, limit: Int = 16) -> [String] {
    let bytes = Array(text.utf8)
    return RefusedMessage(bytes.span, idByteLimit: limit).ids.map { range in
      range.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "-"
    }
  }

  @Test(arguments: [
    (#"{"id":1,"x":2}"#, ["1"]), (#"{"x":{"id":2,"y":[{"id":3}]},"id":"a\"b"}"#, [#""a\"b""#]),
    (#" { "id" : null } "#, ["null"]), (#"{"x":"\"id\":1","id":-1.5e3}"#, ["-1.5e3"]), (#"{"x":1}"#, []),
    (#"{"x":"id"}"#, []), (#"{"ident":1}"#, []), ("{}", []), ("[]", []),
  ])
  func `the id of a request is found, whatever else it holds`(_ text: String, _ ids: [String]) {
    #expect(Self.ids(text) == ids)
  }

  @Test(arguments: [
    #"{"id":1,"id":2}"#, #"{"\u0069d":1}"#, #"{"id":1,"\u0069d":2}"#, #"{"id":{"a":1}}"#, #"{"id":[1]}"#,
    #"{"id":true}"#, #"{"id":01}"#, #"{"id":"12345678901234567"}"#, #"{"id":}"#, #"{"id":1"#, #"{"id":"x"#,
    #"{"id":1,"x":[}"#,
  ])
  func `what cannot be told for certain is not guessed`(_ text: String) {
    #expect(Self.ids(text) == ["-"])
  }

  @Test func `each request of a batch has its own`() {
    let text = #"[{"id":1},{"x":1},[{"id":9}],7,{"id":"b","x":[[{"id":8}]]},{"id":2,"id":3}]"#
    #expect(Self.ids(text) == ["1", #""b""#, "-"])
    #expect(RefusedMessage(Array(" \n[{}]".utf8).span, idByteLimit: 16).isBatch)
    #expect(!RefusedMessage(Array("{}".utf8).span, idByteLimit: 16).isBatch)
  }

  @Test func `any bytes are looked through`() {
    for length in 0..<6 {
      var bytes = [UInt8](repeating: 0, count: length)
      let alphabet = Array(#"{}[]":,\i1"#.utf8)
      var number = 0
      while number < 20_000 {
        var rest = number
        for index in bytes.indices {
          bytes[index] = alphabet[rest % alphabet.count]
          rest /= alphabet.count
        }
        _ = RefusedMessage(bytes.span, idByteLimit: 4).ids
        number += 1
      }
    }
  }
}
