public import JSON
import TextCoding

/// A moment of the wall clock, in milliseconds, written as RFC 3339 UTC.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Milliseconds since ``epoch``.
  public let milliseconds: Int64

  /// 1970-01-01T00:00:00Z.
  static let epoch = Timestamp(milliseconds: 0)

  /// The years 0000 to 9999, which RFC 3339 can write; what lies outside is moved to the nearer end.
  private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// A moment, moved into the years that RFC 3339 can write.
  public init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound)
  }

  /// Orders moments by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

  /// The moment `duration` later.
  public static func + (time: Timestamp, duration: Duration) -> Timestamp {
    let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.milliseconds)
    guard overflow else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: duration < .zero ? .min : .max)
  }

  /// How much later this moment is than another.
  public static func - (left: Timestamp, right: Timestamp) -> Duration {
    .milliseconds(left.milliseconds - right.milliseconds)
  }

  /// The text of RFC 3339, section 5.6, with milliseconds where they are not zero.
  public var description: String {
    let seconds = milliseconds.floorDivided(by: 1000)
    let fraction = milliseconds - seconds * 1000
    let days = seconds.floorDivided(by: 86400)
    let second = seconds - days * 86400
    let day = CalendarDate(daysSince1970: days)
    let date = "\(Self.padded(day.year, 4))-\(Self.padded(day.month, 2))-\(Self.padded(day.day, 2))"
    let time = "\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))"
    return date + "T" + time + (fraction == 0 ? "Z" : ".\(Self.padded(fraction, 3))Z")
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// Reads an RFC 3339 timestamp, section 5.6, with any offset; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[10] | 0x20 == UInt8(ascii: "t"),
      let year = Self.digits(bytes, 0..<4), bytes[4] == UInt8(ascii: "-"),
      let month = Self.digits(bytes, 5..<7), bytes[7] == UInt8(ascii: "-"),
      let day = Self.digits(bytes, 8..<10), let hour = Self.digits(bytes, 11..<13), bytes[13] == UInt8(ascii: ":"),
      let minute = Self.digits(bytes, 14..<16), bytes[16] == UInt8(ascii: ":"),
      let second = Self.digits(bytes, 17..<19), hour < 24, minute < 60, second <= 60,
      let date = CalendarDate(year: year, month: month, day: day)
    else { return nil }
    var position = 19
    guard let fraction = Self.fraction(bytes, &position), let offset = Self.offset(bytes, position) else { return nil }
    let seconds = date.daysSince1970 * 86400 + hour * 3600 + minute * 60 + second - offset
    self.init(milliseconds: seconds * 1000 + fraction)
  }

  private static func digits(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
    guard range.upperBound <= bytes.count else { return nil }
    var value: Int64 = 0
    for byte in bytes[range] {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    return value
  }

  /// The milliseconds of a fraction at `position`, further digits cut off; nil for a point without digits.
  private static func fraction(_ bytes: [UInt8], _ position: inout Int) -> Int64? {
    guard position < bytes.count, bytes[position] == UInt8(ascii: ".") else { return 0 }
    position += 1
    guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
    var value: Int64 = 0
    var scale: Int64 = 100
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
      value += Int64(bytes[position] - 0x30) * scale
      scale /= 10
      position += 1
    }
    return value
  }

  /// The offset from UTC in seconds of `Z`, `+hh:mm` or `-hh:mm` at the end of a string.
  private static func offset(_ bytes: [UInt8], _ position: Int) -> Int64? {
    guard position < bytes.count else { return nil }
    if bytes[position] | 0x20 == UInt8(ascii: "z") { return position + 1 == bytes.count ? 0 : nil }
    guard bytes.count == position + 6, bytes[position + 3] == UInt8(ascii: ":"),
      let hours = digits(bytes, position + 1..<position + 3), let minutes = digits(bytes, position + 4..<position + 6),
      hours < 24, minutes < 60
    else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "+"): return hours * 3600 + minutes * 60
    case UInt8(ascii: "-"): return -(hours * 3600 + minutes * 60)
    default: return nil
    }
  }
}

extension Timestamp: JSONEncodable, JSONDecodable {
  /// Writes the text of RFC 3339.
  public func encode(to writer: inout JSONWriter) { writer.string(description) }

  /// Reads an RFC 3339 timestamp.
  public init(from node: JSONNode) throws(JSONMismatch) {
    guard let time = Timestamp(try node.string()) else { throw node.mismatch("an RFC 3339 time") }
    self = time
  }
}
