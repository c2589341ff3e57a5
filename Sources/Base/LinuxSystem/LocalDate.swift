import CLinux

/// A moment as the clocks of the user's time zone show it (localtime(3): `TZ`, else `/etc/localtime`).
package struct LocalDate: Equatable, Sendable {
  /// The year, with its century.
  package let year: Int
  /// The month, from 1.
  package let month: Int
  /// The day of the month, from 1.
  package let day: Int
  /// The hour, to 23.
  package let hour: Int
  /// The minute.
  package let minute: Int
  /// The second; 60 in a leap second.
  package let second: Int

  /// Converts a moment; nil for a year that does not fit.
  ///
  /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
  package init?(milliseconds: Int64) {
    let seconds = milliseconds >= 0 ? milliseconds / 1000 : -((999 - milliseconds) / 1000)
    let date = clinux_local_date(seconds)
    guard date.error == 0 else { return nil }
    (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
    (hour, minute, second) = (Int(date.hour), Int(date.minute), Int(date.second))
  }
}
