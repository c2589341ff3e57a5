import JSON
import JSONRPC
import TestSupport
import Testing

/// What a text must be taken for.
struct EnvelopeCase: Sendable, CustomTestStringConvertible {
  enum Kind: Sendable { case request, notification, invalid }

  let text: String
  let kind: Kind
  var id: String?
  var method: String?
  var parameters: String?

  var testDescription: String { text.count > 100 ? String(text.prefix(100)) : text }
}

@Suite(.standardTimeLimit) struct EnvelopeTests {
  /// The examples of the JSON-RPC 2.0 specification, section 7.
  private static let specification: [EnvelopeCase] = [
    .init(
      text: #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#, kind: .request, id: "1",
      method: "subtract", parameters: "[42, 23]"),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#, kind: .request, id: "2",
      method: "subtract", parameters: "[23, 42]"),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
      kind: .request, id: "3", method: "subtract", parameters: #"{"subtrahend": 23, "minuend": 42}"#),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
      kind: .request, id: "4", method: "subtract", parameters: #"{"minuend": 42, "subtrahend": 23}"#),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, kind: .notification, method: "update",
      parameters: "[1,2,3,4,5]"),
    .init(text: #"{"jsonrpc": "2.0", "method": "foobar"}"#, kind: .notification, method: "foobar"),
    .init(text: #"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, kind: .request, id: #""1""#, method: "foobar"),
    .init(text: #"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, kind: .invalid),
    .init(text: "[]", kind: .invalid),
    .init(text: "1", kind: .invalid),
    .init(text: #"{"foo": "boo"}"#, kind: .invalid),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"}"#, kind: .request,
      id: #""5""#, method: "foo.get", parameters: #"{"name": "myself"}"#),
    .init(
      text: #"{"jsonrpc": "2.0", "method": "get_data", "id": "9"}"#, kind: .request, id: #""9""#, method: "get_data"),
  ]

  private static func request(id: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"method":"m"}"# }

  /// Ids are echoed byte for byte, however they are written.
  private static let ids: [EnvelopeCase] =
    [
      "0", "-1", "1.5", "1e3", "1.0", "-0", "9223372036854775807", "null", #""""#, #""a b""#, #""\u0061\"\\""#,
      #""é😀""#,
      "\"\u{2028}\"", "\"" + String(repeating: "x", count: 126) + "\"",
    ].map { .init(text: request(id: $0), kind: .request, id: $0, method: "m") }
    + [
      "true", "false", "[]", "[1]", "{}", #"{"a":1}"#, "\"" + String(repeating: "x", count: 127) + "\"",
      "\"" + String(repeating: #"\u0061"#, count: 22) + "\"",
    ].map { .init(text: request(id: $0), kind: .invalid, method: "m") }

  private static let members: [EnvelopeCase] = [
    .init(text: #"{"jsonrpc":"2.0","method":"m","id":1}"#, kind: .request, id: "1", method: "m"),
    .init(text: #"{"id":1,"params":{},"method":"m","jsonrpc":"2.0"}"#, kind: .request, id: "1", method: "m"),
    .init(
      text: #"{"jsonrpc":"2.0","method":"m","id":1,"x":{"id":2,"method":"n"}}"#, kind: .request, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0","method":"","id":1}"#, kind: .request, id: "1", method: ""),
    .init(text: #"{"jsonrpc":"2.0","method":"rpc.x","id":1}"#, kind: .request, id: "1", method: "rpc.x"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"\u0070ing"}"#, kind: .request, id: "1", method: ""),
    .init(text: #"{"jsonrpc":"2\u002e0","id":1,"method":"m"}"#, kind: .request, id: "1", method: "m"),
    // Escaped member names are the same names.
    .init(text: #"{"jsonrpc":"2.0","\u0069d":7,"method":"m"}"#, kind: .request, id: "7", method: "m"),
    .init(
      text: #"{"json\u0072pc":"2.0","\u006dethod":"m","\u0070arams":[1]}"#, kind: .notification, method: "m",
      parameters: "[1]"),
    // Versions.
    .init(text: #"{"method":"m","id":1}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"1.0","method":"m","id":1}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":2.0,"method":"m","id":1}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0 ","method":"m","id":1}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"JSONRPC":"2.0","method":"m","id":1}"#, kind: .invalid, id: "1", method: "m"),
    // Methods.
    .init(text: #"{"jsonrpc":"2.0","id":1}"#, kind: .invalid, id: "1"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":null}"#, kind: .invalid, id: "1"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":["m"]}"#, kind: .invalid, id: "1"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"result":{}}"#, kind: .invalid, id: "1"),
    // Params: none in four spellings, and what they cannot be.
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, kind: .request, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":[ ]}"#, kind: .request, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":{ }}"#, kind: .request, id: "1", method: "m"),
    .init(
      text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":[null]}"#, kind: .request, id: "1", method: "m",
      parameters: "[null]"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":7}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #"{"jsonrpc":"2.0","id":1,"method":"m","params":true}"#, kind: .invalid, id: "1", method: "m"),
    .init(text: #""text""#, kind: .invalid), .init(text: "null", kind: .invalid), .init(text: "{}", kind: .invalid),
  ]

  @Test(arguments: specification + ids + members)
  func `a message is taken for what the specification says`(_ sample: EnvelopeCase) throws {
    let bytes = Array(sample.text.utf8)
    var tape = JSONTape()
    try tape.scan(bytes.span)
    check(Envelope(in: tape, of: bytes.span), sample, bytes, tape)
  }

  private func check(_ envelope: Envelope, _ sample: EnvelopeCase, _ bytes: [UInt8], _ tape: JSONTape) {
    let kind: EnvelopeCase.Kind =
      switch envelope.kind {
      case .request: .request
      case .notification: .notification
      case .invalid(let problem):
        problem.sentence.hasSuffix(".") ? .invalid : .request
      }
    #expect(kind == sample.kind)
    #expect(envelope.id.map { String(decoding: bytes[$0], as: UTF8.self) } == sample.id)
    #expect(String(decoding: bytes[envelope.method], as: UTF8.self) == sample.method ?? "")
    #expect(
      envelope.parameters.map { String(decoding: bytes[tape.entries[$0].range], as: UTF8.self) } == sample.parameters)
  }

  @Test func `the entries of a batch are read one by one`() throws {
    let bytes = Array(
      #"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method":"note"},1,{"foo":"boo"}]"#
        .utf8)
    var tape = JSONTape()
    try tape.scan(bytes.span)
    var kinds: [Envelope.Kind] = []
    var index = 1
    while index < Int(tape.entries[0].next) {
      kinds.append(Envelope(in: tape, at: index, of: bytes.span).kind)
      index = Int(tape.entries[index].next)
    }
    #expect(kinds.count == 4)
    #expect(kinds[0] == .request && kinds[1] == .notification)
    for kind in kinds[2...] { if case .invalid = kind {} else { Issue.record("\(kind) should be invalid") } }
  }

  @Test func `a method's name that is spelled with escapes can be read at its index`() throws {
    let text = #"{"jsonrpc":"2.0","id":1,"method":"\u0070\u0069ng"}"#
    let bytes = Array(text.utf8)
    var tape = JSONTape()
    try tape.scan(bytes.span)
    let envelope = Envelope(in: tape, of: bytes.span)
    #expect(try JSONDocument(bytes: bytes, tape: tape).node(at: envelope.methodIndex).string() == "ping")
  }

  @Test(arguments: [(9, true), (10, true), (11, false)])
  func `the limit of ids is the caller's, and exact`(_ count: Int, _ isValid: Bool) throws {
    let bytes = Array(Self.request(id: String(repeating: "1", count: count)).utf8)
    var tape = JSONTape()
    try tape.scan(bytes.span)
    let envelope = Envelope(in: tape, of: bytes.span, idByteLimit: 10)
    #expect((envelope.kind == .request) == isValid)
    #expect((envelope.id != nil) == isValid)
  }
}
