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
    return (try? node.string()).flatMap { moment(trimmed($0)) }
  }

  /// A moment as servers write it: RFC 3339, also with a blank before the time, an offset without a colon, or without
  /// one, which is UTC then; or the date of HTTP (RFC 9110, section 5.6.7).
  private static func moment(_ text: String) -> Timestamp? {
    if let moment = Timestamp(text) { return moment }
    let words = text.split(separator: " ")
    if words.count == 6, let month = months.firstIndex(of: String(words[2])), words[5] == "GMT" || words[5] == "UTC" {
      return Timestamp("\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z")
    }
    guard words.count <= 3 else { return nil }
    if words.count > 1, words[0].utf8.count == 10 {
      let zone = words.count < 3 ? "" : words[2] == "UTC" || words[2] == "GMT" ? "Z" : words[2]
      let joined = "\(words[0])T\(words[1])\(zone)"
      return moment(joined)
    }
    let offset = Array(text.utf8.suffix(5))
    let isOffset = offset.first == UInt8(ascii: "+") || offset.first == UInt8(ascii: "-")
    if isOffset, offset.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }) {
      return Timestamp("\(text.dropLast(2)):\(text.suffix(2))")
    }
    return Timestamp(text + "Z")
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Reads a length of time in seconds: a number, or a string with one and maybe the first letter of its unit (`15m`).
  package static func seconds(_ node: JSONNode) -> Double? {
    if let number = number(node) { return number }
    guard let text = (try? node.string()).map(trimmed), let unit = text.utf8.last, text.utf8.count <= longestNumber,
      let factor = units[unit | 0x20]
    else { return nil }
    return number(trimmed(String(text.dropLast()))).map { $0 * factor }
  }

  private static let units: [UInt8: Double] = [
    UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3600, UInt8(ascii: "d"): 86400,
  ]

  /// A text without the blanks around it.
  private static func trimmed(_ text: String) -> String {
    let start = text.unicodeScalars.drop { $0.value <= 0x20 }
    guard let last = start.lastIndex(where: { $0.value > 0x20 }) else { return "" }
    return String(start[...last])
  }

  /// Reads a number, or a string with one: digits, maybe a point and digits; nil for anything else.
  package static func number(_ node: JSONNode) -> Double? {
    if let number = try? node.number() { return number }
    return (try? node.string()).flatMap { number(trimmed($0)) }
  }

  private static func number(_ text: String) -> Double? {
    guard text.utf8.count <= longestNumber else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy(isDigits) else { return nil }
    return Double(text)
  }

  private static func isDigits(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
  }
}
