import CLinux

/// Time that only grows, also while the machine sleeps (`CLOCK_BOOTTIME`): for deadlines.
package enum BootClock {
  /// The time since the machine was started.
  package static var now: Duration {
    let time = clinux_clock(CLOCK_BOOTTIME)
    return Duration(secondsComponent: time.seconds, attosecondsComponent: time.nanoseconds * 1_000_000_000)
  }

  /// The same in whole nanoseconds.
  package static var nanoseconds: Int64 {
    let time = clinux_clock(CLOCK_BOOTTIME)
    return time.seconds &* 1_000_000_000 &+ time.nanoseconds
  }

  /// The identifier of the machine's start that it counts from (random(4), `boot_id`); nil where the kernel does not
  /// say, as where `/proc` is hidden.
  package static let boot: String? = {
    guard let file = try? FileDescriptor.open("/proc/sys/kernel/random/boot_id", .read) else { return nil }
    // A UUID and the end of the line.
    var text = [UInt8](repeating: 0, count: 37)
    guard case .bytes(let count) = file.read(into: &text) else { return nil }
    let digits = text[..<count].prefix { $0 != UInt8(ascii: "\n") }
    return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
  }()
}

/// Time that only grows and stands still while the machine sleeps (`CLOCK_MONOTONIC`): for programs that measure with it.
package enum MonotonicClock {
  /// The time since a moment of its own, in whole microseconds.
  package static var microseconds: Int64 {
    let time = clinux_clock(CLOCK_MONOTONIC)
    return time.seconds &* 1_000_000 &+ time.nanoseconds / 1000
  }
}

/// The time of day (`CLOCK_REALTIME`): for what is shown or compared with a provider's times.
///
/// It can jump.
package enum WallClock {
  /// A moment: seconds since 1970-01-01T00:00:00Z, and nanoseconds (0 to 999,999,999) on top.
  package struct Instant: Equatable, Sendable {
    /// Whole seconds.
    package let seconds: Int64
    /// The nanoseconds beyond the whole seconds.
    package let nanoseconds: Int32
  }

  /// The present moment.
  package static var now: Instant {
    let time = clinux_clock(CLOCK_REALTIME)
    return Instant(seconds: time.seconds, nanoseconds: Int32(time.nanoseconds))
  }

  /// The present moment in whole milliseconds since 1970-01-01T00:00:00Z.
  package static var milliseconds: Int64 {
    let time = now
    return time.seconds &* 1000 &+ Int64(time.nanoseconds / 1_000_000)
  }
}

extension Duration {
  /// Whole nanoseconds, held inside what 64 bits can say (292 years either way).
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, second) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    guard !overflow, !second else { return seconds < 0 ? .min : .max }
    return sum
  }
}
