import BrokerProtocol
import LinuxSystem

/// Moments for people: on the clock of their time zone, and how far away where that is near.
///
/// Programs get RFC 3339 in UTC, as it stands on the wire.
enum LocalTime {
  /// Up to here a moment is told by its distance as well.
  private static let near = Duration.seconds(24 * 3600)

  /// The present moment.
  static var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }

  /// `12:32` today, else `2026-11-24 12:32`.
  static func clock(_ moment: Timestamp, now: Timestamp = now) -> String {
    guard let date = LocalDate(milliseconds: moment.milliseconds) else { return moment.description }
    let time = "\(padded(date.hour)):\(padded(date.minute))"
    let today = LocalDate(milliseconds: now.milliseconds)
    guard let today, (today.year, today.month, today.day) == (date.year, date.month, date.day) else {
      return self.day(date) + " " + time
    }
    return time
  }

  /// `2026-11-24 12:32:07`, for lines that are read one after the other.
  static func full(_ moment: Timestamp) -> String {
    guard let date = LocalDate(milliseconds: moment.milliseconds) else { return moment.description }
    return "\(day(date)) \(padded(date.hour)):\(padded(date.minute)):\(padded(date.second))"
  }

  /// `in 5 minutes (12:32)` where it is near, else `on 2026-11-24 12:32`; `at 12:32` for what is over.
  static func relative(_ moment: Timestamp, now: Timestamp = now) -> String {
    let (left, clock) = (moment - now, clock(moment, now: now))
    let preposition = clock.utf8.count > 5 ? "on " : "at "
    guard left > .zero, left <= near else { return preposition + clock }
    return "in \(distance(left)) (\(clock))"
  }

  /// The nearest number of the unit that fits: up to 90 of the smaller one.
  private static func distance(_ duration: Duration) -> String {
    let seconds = max(1, Int((duration / .seconds(1)).rounded()))
    if seconds < 90 { return seconds.counted("second") }
    let minutes = (seconds + 30) / 60
    return minutes < 90 ? minutes.counted("minute") : ((minutes + 30) / 60).counted("hour")
  }

  private static func day(_ date: LocalDate) -> String {
    "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))"
  }

  private static func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
