import JSON
import TestSupport
import Testing

/// The structure that a text may have: accepted to each limit, refused one beyond.
@Suite(.standardTimeLimit) struct JSONLimitTests {
  private static func limits(_ change: (inout JSONLimits) -> Void) -> JSONLimits {
    var limits = JSONLimits(depth: 8, byteCount: 1 << 20)
    change(&limits)
    return limits
  }

  private func reason(_ text: String, _ limits: JSONLimits) -> JSONError.Reason? {
    do {
      _ = try JSONDocument(parsing: Array(text.utf8), limits: limits)
      return nil
    } catch { return error.reason }
  }

  private static func object(_ count: Int) -> String {
    "{" + (0..<count).map { "\"m\($0)\":\($0)" }.joined(separator: ",") + "}"
  }

  private static func array(_ count: Int) -> String {
    "[" + Array(repeating: "0", count: count).joined(separator: ",") + "]"
  }

  @Test func `members of an object are bounded exactly, in each object by itself`() {
    let limits = Self.limits { $0.members = 16 }
    for count in [15, 16] { #expect(reason(Self.object(count), limits) == nil) }
    #expect(reason(Self.object(17), limits) == .tooManyMembers)
    #expect(reason("[\(Self.object(16)),\(Self.object(16)),\(Self.array(100))]", limits) == nil)
    #expect(reason("{\"a\":[\(Self.object(17))]}", limits) == .tooManyMembers)
  }

  @Test func `elements of an array are bounded exactly, in each array by itself`() {
    let limits = Self.limits { $0.elements = 16 }
    for count in [15, 16] { #expect(reason(Self.array(count), limits) == nil) }
    #expect(reason(Self.array(17), limits) == .tooManyElements)
    #expect(reason("[\(Self.array(16)),\(Self.array(16)),\(Self.object(100))]", limits) == nil)
    #expect(reason("{\"a\":\(Self.array(17))}", limits) == .tooManyElements)
  }

  @Test func `values in all are bounded exactly, names included`() {
    let limits = Self.limits { $0.values = 9 }
    for count in [7, 8] { #expect(reason(Self.array(count), limits) == nil) }
    #expect(reason(Self.array(9), limits) == .tooManyValues)
    #expect(reason(Self.object(4), limits) == nil)
    #expect(reason(Self.object(5), limits) == .tooManyValues)
    #expect(reason("[[[0,0]],[0,[[]]]]", limits) == nil)
    #expect(reason("[[[0,0]],[0,[[]]],0]", limits) == .tooManyValues)
  }

  @Test func `bytes of a string and of a name are bounded exactly`() {
    let limits = Self.limits { $0.stringBytes = 10 }
    for text in ["xxxxxxxxx", "xxxxxxxxxx", "ééééé", #"\u0061xxxx"#] {
      #expect(reason("\"\(text)\"", limits) == nil && reason("{\"\(text)\":0}", limits) == nil)
    }
    for text in ["xxxxxxxxxxx", "éééééx", #"\u0061xxxxx"#] {
      #expect(reason("\"\(text)\"", limits) == .stringTooLong && reason("{\"\(text)\":0}", limits) == .stringTooLong)
    }
  }

  @Test func `bytes of a number are bounded exactly`() {
    let limits = Self.limits { $0.numberBytes = 8 }
    for text in ["1234567", "12345678", "-1234567", "1.000000", "1.5e+100"] { #expect(reason(text, limits) == nil) }
    for text in ["123456789", "-12345678", "1.0000000", "1.50e+100"] {
      #expect(reason(text, limits) == .numberTooLong, "\(text)")
    }
  }

  @Test func `without a limit any structure is read`() {
    let limits = JSONLimits(depth: 8, byteCount: 1 << 20)
    for text in [Self.object(2000), Self.array(20000), "\"" + String(repeating: "x", count: 200_000) + "\""] {
      #expect(reason(text, limits) == nil)
    }
  }

  @Test(arguments: [2, 8, 9, 16, 200])
  func `long names with a common beginning are compared to their end`(_ count: Int) {
    let head = String(repeating: "x", count: 2000)
    let names = (0..<count).map { "\"\(head)\($0)\":0" }
    let limits = JSONLimits(depth: 8, byteCount: 1 << 20)
    #expect(reason("{\(names.joined(separator: ","))}", limits) == nil)
    for twin in [0, count / 2, count - 1] {
      #expect(
        reason("{\(names.joined(separator: ",")),\"\\u0078\(head.dropFirst())\(twin)\":1}", limits) == .duplicateName)
    }
  }

  @Test func `a part of a text is a document of its own`() throws {
    let bytes = Array(#"{"a":[1],"params":{"x":[1,{"y":"\u0061"}],"z":-2.5},"b":[[],{}]}"#.utf8)
    var tape = JSONTape()
    try tape.scan(bytes.span)
    let index = try #require(tape.entries.indices.first { tape.entries[$0].kind == .object && $0 > 0 })
    let part = Array(bytes[tape.entries[index].range])
    let (document, fresh) = (JSONDocument(bytes: part, ofContainerAt: index, on: tape), try JSONDocument(parsing: part))
    #expect(try document.root["x"]?.elements().last?["y"]?.string() == "a")
    #expect(try document.root["z"]?.number() == -2.5)
    #expect(try document.root.members().map(\.name) == fresh.root.members().map(\.name))
    #expect(document.root["b"] == nil && document.root.text == fresh.root.text)
  }
}
