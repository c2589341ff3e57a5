import JSON
import TestSupport
import Testing

/// One walk over the members of a type writes, reads and lists them.
@Suite(.standardTimeLimit) struct ObjectCoderTests {
  private enum Colour: String, CaseIterable {
    case red, green
  }

  private struct Inner: ObjectCodable, Equatable {
    var number = 0.5

    static let blank = Inner()

    mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("number", &number, .number)
    }
  }

  private struct Outer: ObjectCodable, Equatable {
    var text: String
    var inner: Inner?
    var names: [String]?
    var colour = Colour.red
    var count = 7
    var isSet = false

    static let blank = Outer(text: "")

    mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("text", &text)
      try coder.optional("inner", &inner)
      try coder.optional("names", &names, .list(of: .word))
      try coder.required("colour", &colour, .name("red or green"))
      try coder.defaulted("count", &count)
      try coder.optional("set", &isSet, absent: false)
    }
  }

  private static let full = Outer(
    text: "a", inner: Inner(number: 2), names: ["b"], colour: .green, count: 1, isSet: true)

  private func written(_ value: Outer) -> String {
    var writer = JSONWriter()
    value.encode(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func read(_ text: String) throws -> Outer { try Outer(from: JSONDocument(text).root) }

  @Test func `members are written in the order of the walk, without those that absence says as well`() {
    let all = #"{"text":"a","inner":{"number":2},"names":["b"],"colour":"green","count":1,"set":true}"#
    #expect(written(Self.full) == all)
    #expect(written(Outer(text: "a")) == #"{"text":"a","colour":"red","count":7}"#)
  }

  @Test func `what is written reads as the same value`() throws {
    for value in [Self.full, Outer(text: "")] { #expect(try read(written(value)) == value) }
  }

  @Test(arguments: [
    #"{"text":"a","colour":"red"}"#,
    #"{"set":null,"count":null,"later":1,"names":null,"inner":null,"colour":"red","text":"a"}"#,
  ])
  func `what is absent or null has its default, whatever the order`(_ text: String) throws {
    #expect(try read(text) == Outer(text: "a"))
  }

  @Test(arguments: [
    ("{}", "/text", "present"), (#"{"text":null}"#, "/text", "a string"),
    (#"{"text":"a"}"#, "/colour", "present"), (#"{"text":"a","colour":"blue"}"#, "/colour", "red or green"),
    (#"{"text":"a","inner":{}}"#, "/inner/number", "present"),
    (#"{"text":"a","names":["b",1]}"#, "/names/1", "a string"),
    (#"{"text":"a","colour":"red","count":"1"}"#, "/count", "a whole number"),
    (#"{"text":"a","colour":"red","set":0}"#, "/set", "true or false"), ("[]", "/text", "present"),
  ])
  func `what does not fit is refused with its pointer`(_ text: String, _ pointer: String, _ expected: String) throws {
    let error = #expect(throws: JSONMismatch.self) { try read(text) }
    #expect(error?.pointer.description == pointer)
    #expect(error?.expected == expected)
  }

  @Test func `the names of the members are listed in the order of the walk`() {
    #expect(Outer.members.names == ["text", "inner", "names", "colour", "count", "set"])
    #expect(Outer.members.secretNames.isEmpty)
  }

  @Test func `a name of a later version is nil`() {
    var colour: Colour? = .red
    #expect(colour.knownName == "red")
    colour.knownName = "blue"
    #expect(colour == nil && colour.knownName == nil)
    colour.knownName = "green"
    #expect(colour == .green)
  }
}
