/// Durations that are watched while they run: as short as they can be read.
enum Countdown {
  /// `4:09`, `1:04:09` from an hour on, `2 d 3 h` from a day on.
  static func text(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    let (minutes, hours) = (seconds / 60 % 60, seconds / 3600)
    guard hours < 24 else { return "\(hours / 24) d \(hours % 24) h" }
    guard hours > 0 else { return "\(minutes):\(twoDigits(seconds % 60))" }
    return "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds % 60))"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
