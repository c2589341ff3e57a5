import JSON
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct JSONNodeTests {
  private static let text = #"""
    {"null":null,"yes":true,"no":false,"int":-42,"float":2.5,"exp":1e2,"text":"plain","esc":"a\n\u00e9\uD834\uDD1E\/",
     "list":[1,"two",[3],{}],"a/b~c":{"":{"x":0}},"\u006bey":"value"}
    """#

  private let root: JSONNode

  init() throws {
    root = try JSONDocument(Self.text).root
  }

  @Test func `the empty object is an object without members`() throws {
    let root = JSONDocument.emptyObject.root
    #expect(try root.members().isEmpty)
    #expect(root.text == ArraySlice("{}".utf8))
  }

  @Test func `an object with other members than those known is told from one without`() throws {
    let names = try root.members().map(\.name)
    #expect(root.hasOnlyMembers(named: names) && root.hasOnlyMembers(named: names.reversed() + ["more"]))
    for name in names {
      // One is known by its name as it is meant, not as it is written.
      #expect(!root.hasOnlyMembers(named: names.filter { $0 != name }), "\(name)")
    }
    #expect(JSONDocument.emptyObject.root.hasOnlyMembers(named: []))
  }

  @Test func `values are read as what they are`() throws {
    #expect(root["null"]?.isNull == true)
    #expect(try root["yes"]?.bool() == true)
    #expect(try root["no"]?.bool() == false)
    #expect(try root["int"]?.integer() == -42)
    #expect(try root["int"]?.number() == -42)
    #expect(try root["float"]?.number() == 2.5)
    #expect(try root["exp"]?.number() == 100)
    #expect(try root["text"]?.string() == "plain")
    #expect(try root["esc"]?.string() == "a\né\u{1D11E}/")
    #expect(try root["list"]?.elements().count == 4)
    #expect(try root["key"]?.string() == "value")
    #expect(root["nothing"] == nil)
    #expect(root["text"]?["member"] == nil)
  }

  @Test func `a value of another kind is refused with its pointer`() throws {
    let readers: [(String, String, (JSONNode) throws(JSONMismatch) -> Void)] = [
      ("text", "a whole number", { node throws(JSONMismatch) in _ = try node.integer() }),
      ("float", "a whole number", { node throws(JSONMismatch) in _ = try node.integer() }),
      ("null", "a number", { node throws(JSONMismatch) in _ = try node.number() }),
      ("int", "a string", { node throws(JSONMismatch) in _ = try node.string() }),
      ("null", "true or false", { node throws(JSONMismatch) in _ = try node.bool() }),
      ("text", "an array", { node throws(JSONMismatch) in _ = try node.elements() }),
      ("list", "an object", { node throws(JSONMismatch) in _ = try node.members() }),
    ]
    for (name, expected, read) in readers {
      let node = try #require(root[name])
      let error = #expect(throws: JSONMismatch.self) { try read(node) }
      #expect(error?.pointer.description == "/" + name)
      #expect(error?.expected == expected)
    }
  }

  @Test func `pointers are escaped as RFC 6901 says`() throws {
    let inner = try #require(root["a/b~c"]?[""]?["x"])
    #expect(inner.pointer.description == "/a~1b~0c//x")
    let third = try #require(try root["list"]?.elements()[2].elements().first)
    #expect(third.pointer.description == "/list/2/0")
    #expect(JSONPointer.root.description == "")
    #expect(JSONPointer.root.member("~1").description == "/~01")
    #expect(try root["list"]?.elements()[1].integerPointer() == "/list/1")
  }

  @Test func `members keep the order of the text`() throws {
    #expect(
      try root.members().map(\.name) == [
        "null", "yes", "no", "int", "float", "exp", "text", "esc", "list", "a/b~c", "key",
      ])
  }

  @Test func `the text of a value is what stood there`() throws {
    let texts = try root.members().map { String(decoding: $0.value.text, as: UTF8.self) }
    #expect(
      texts == [
        "null", "true", "false", "-42", "2.5", "1e2", #""plain""#, #""a\n\u00e9\uD834\uDD1E\/""#, #"[1,"two",[3],{}]"#,
        #"{"":{"x":0}}"#, #""value""#,
      ])
  }

  @Test func `string bytes are lent with and without escapes`() throws {
    for name in ["text", "esc"] {
      let node = try #require(root[name])
      let lent = try node.withStringBytes { bytes in bytes.indices.map { bytes[$0] } }
      #expect(try lent == Array(node.string().utf8))
    }
  }

  @Test func `required and optional members`() throws {
    #expect(throws: JSONMismatch(at: JSONPointer.root.member("gone"), expected: "present")) {
      try root.required("gone")
    }
    #expect(try root.optional("gone", Int.init(from:)) == nil)
    #expect(try root.optional("null", Int.init(from:)) == nil)
    #expect(try root.optional("int", Int.init(from:)) == -42)
    #expect(throws: JSONMismatch.self) { try root.optional("text", Int.init(from:)) }
    let error = #expect(throws: JSONMismatch.self) { try root.optional("list", [Int].init(from:)) }
    #expect(error?.pointer.description == "/list/1")
  }

  @Test func `the ends of 64 bits are exact`() throws {
    let list = try JSONDocument("[9223372036854775807,-9223372036854775808,-0]").root.elements()
    #expect(try list.map { try $0.integer() } == [Int64.max, Int64.min, 0])
  }

  @Test(arguments: ["9223372036854775808", "-9223372036854775809", "1e400", "-1e400"])
  func `a number beyond 64 bits stands only in a text that may have one, and has no integer`(_ number: String) throws {
    let text = Array("[\(number),1]".utf8)
    #expect(throws: JSONError.self) { try JSONDocument(parsing: text) }
    let limits = JSONLimits(depth: 2, byteCount: 100, toleratesLargeNumbers: true)
    let list = try JSONDocument(parsing: text, limits: limits).root.elements()
    #expect(list[0].kind == .number)
    #expect(throws: JSONMismatch.self) { try list[0].integer() }
    #expect((try? list[0].number()) == (number.contains("e") ? nil : Double(number)))
    #expect(try list[1].integer() == 1)
  }

  @Test(arguments: [("1e2", 100), ("1.5e6", 1_500_000), ("-2.0", -2), ("0.0", 0), ("9007199254740992.0", 1 << 53)])
  func `a whole number may have a fraction of zeros and an exponent`(text: String, value: Int64) throws {
    #expect(try JSONDocument(parsing: Array(text.utf8)).root.integer() == value)
  }

  @Test(arguments: [
    ("1.5", "a whole number"), ("1e-2", "a whole number"), ("1e16", "a whole number of at most 9007199254740992"),
  ])
  func `another number is called what it is not`(text: String, expected: String) throws {
    let root = try JSONDocument(parsing: Array(text.utf8)).root
    #expect(throws: JSONMismatch(at: root.pointer, expected: expected)) { try root.integer() }
  }
}

extension JSONNode {
  fileprivate func integerPointer() -> String? {
    do {
      _ = try integer()
      return nil
    } catch { return error.pointer.description }
  }
}
