package import BrokerProtocol
package import JSON

/// Times as providers write them: numbers of seconds (NumericDate of RFC 7519, section 2), and what is as common instead.
package enum NumericDate {
  /// Numbers from here on count milliseconds: as seconds it is the year 5138.
  private static let firstMillisecond = 100_000_000_000.0
  /// A number in a string has no more digits: 64 bits have 20 of them.
  private static let longestNumber = 20

  /// Reads a moment: an RFC 3339 timestamp, or seconds or milliseconds since 1970; nil for anything else.
  package static func moment(_ node: JSONNode) -> Timestamp? {
    if let number = number(node) {
      let milliseconds = number.magnitude < firstMillisecond ? number * 1000 : number
      // Exact only for what fits; the rest is no moment.
      return Int64(exactly: milliseconds.rounded()).map { Timestamp(milliseconds: $0) }
    }
    return (try? node.string()).flatMap { Timestamp($0) }
  }

  /// Reads a number, or a string with one: digits, maybe a point and digits; nil for anything else.
  package static func number(_ node: JSONNode) -> Double? {
    if let number = try? node.number() { return number }
    guard let text = try? node.string(), text.utf8.count <= longestNumber else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy(isDigits) else { return nil }
    return Double(text)
  }

  private static func isDigits(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
  }
}
