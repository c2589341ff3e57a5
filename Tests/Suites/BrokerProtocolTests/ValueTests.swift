import BrokerProtocol
import JSON
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ValueTests {
  @Test(arguments: [
    "default", "a", "0", "work", "a.b-c_d", "9lives", String(repeating: "x", count: 64), "a..", "a--",
  ])
  func `a profile name that can be one`(_ text: String) throws {
    #expect(ProfileName(text)?.description == text)
    #expect(try ProfileName(from: JSONDocument("\"\(text)\"").root).description == text)
  }

  @Test(arguments: [
    "", ".", "..", "-a", "_a", ".a", "A", "aB", "a b", "a/b", "a\\\\b", "é", "ａ", "a\u{301}", "a:", "a*", "*",
    String(repeating: "x", count: 65),
  ])
  func `a profile name that cannot`(_ text: String) throws {
    #expect(ProfileName(text) == nil)
    let node = try JSONDocument("\"\(text)\"").root
    #expect(throws: JSONMismatch.self) { try ProfileName(from: node) }
  }

  @Test func `profile names are ordered by their bytes`() throws {
    let names = ["a", "a-b", "a.b", "a0", "a_b", "aa", "b"].compactMap(ProfileName.init)
    #expect(names.shuffled().sorted() == names && names.count == 7)
  }

  @Test(arguments: [
    ("0", 0), ("30", 30000), ("0.5", 500), ("1.0005", 1001), ("0.0004", 0), ("1e3", 1_000_000),
    ("315360000", 315_360_000_000),
  ])
  func `a duration is read to the millisecond`(_ text: String, _ milliseconds: Int64) throws {
    #expect(try JSONDocument(text).root.seconds() == .milliseconds(milliseconds))
  }

  @Test(arguments: ["-0.001", "-1", "315360000.1", "1e300", "\"30\"", "null", "true"])
  func `what is no duration is refused`(_ text: String) throws {
    let node = try JSONDocument(text).root
    #expect(throws: JSONMismatch.self) { try node.seconds() }
  }

  @Test func `durations never overflow`() {
    #expect(Duration.seconds(Int64.max).milliseconds == .max)
    #expect(Duration.seconds(Int64.min).milliseconds == .min)
    #expect(Duration.nanoseconds(1_999_999).milliseconds == 1)
  }
}
