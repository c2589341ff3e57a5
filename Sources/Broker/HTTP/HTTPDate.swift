import TextCoding

/// A moment as HTTP writes it (RFC 9110, section 5.6.7), in whole seconds.
package struct HTTPDate: Sendable, Equatable {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970-01-01T00:00:00Z.
  package let secondsSince1970: Int64

  /// Reads any of the three forms, or gives `nil` for what is none of them, or no moment that exists.
  ///
  /// They are `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. The day
  /// of the week is not compared with the date.
  ///
  /// - Parameters:
  ///   - text: the field's value.
  ///   - now: seconds since 1970; a year of two digits is the latest that is at most 50 years after it.
  package init?(_ text: String, now: Int64) {
    guard text.utf8.count <= 40 else { return nil }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    let parts: (day: String, month: String, year: String, time: String)
    switch words.count {
    case 6 where words[5] == "GMT": parts = (words[1], words[2], words[3], words[4])
    case 4 where words[3] == "GMT":
      let date = words[1].split(separator: "-").map(String.init)
      guard date.count == 3 else { return nil }
      parts = (date[0], date[1], date[2], words[2])
    case 5: parts = (words[2], words[1], words[4], words[3])
    default: return nil
    }
    guard let month = Self.months.firstIndex(of: parts.month), let day = Self.number(parts.day, digits: 1...2),
      var year = Self.number(parts.year, digits: 2...4), parts.year.utf8.count != 3
    else { return nil }
    if parts.year.utf8.count == 2 { year = Self.fullYear(year, now: now) }
    guard year >= 1970, let date = CalendarDate(year: Int64(year), month: Int64(month + 1), day: Int64(day)) else {
      return nil
    }
    let clock = parts.time.split(separator: ":", omittingEmptySubsequences: false).map {
      Self.number(String($0), digits: 2...2)
    }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60,
      second <= 60
    else { return nil }
    let seconds = (hour * 60 + minute) * 60 + second
    secondsSince1970 = date.daysSince1970 * 86_400 + Int64(seconds)
  }

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func fullYear(_ twoDigits: Int, now: Int64) -> Int {
    let thisYear = 1970 + Int(min(max(now, 0), 1 << 40) / 31_556_952)
    let candidate = thisYear / 100 * 100 + twoDigits
    return candidate > thisYear + 50 ? candidate - 100 : candidate
  }
}
