import CLinux

/// Tells when the wall clock was set, as a descriptor: an alarm on `CLOCK_REALTIME` that never comes, and that the kernel
/// calls off whenever the clock jumps (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`).
///
/// A clock that is only slewed (adjtime(3)) does not jump. The end of a suspend counts as a jump, too.
package struct ClockWatch: ~Copyable {
  /// The outcome of reading the alarm.
  package enum Finding: Equatable, Sendable {
    /// The clock was set since the last look.
    case wasSet
    /// Nothing has happened.
    case quiet
    /// The descriptor cannot be used any more.
    case failed(Errno)

    /// Reads the shim's convention for a read of the alarm: `ECANCELED` is the news that is waited for.
    ///
    /// An alarm that came after all tells that the clock is past its end.
    init(reading result: Int64) {
      switch result {
      case 0...: self = .wasSet
      case -Int64(ECANCELED): self = .wasSet
      case -Int64(EAGAIN): self = .quiet
      default: self = .failed(Errno(code: Int32(truncatingIfNeeded: 0 &- result)))
      }
    }
  }

  /// Readable once the clock was set.
  package let descriptor: FileDescriptor
  private let readAlarm: @Sendable (Int32) -> Int64

  /// Watches from now on.
  ///
  /// - Throws: `EMFILE` and the like.
  package init() throws(Errno) {
    let alarm = FileDescriptor(owning: try Errno.check(clinux_clock_watch()))
    _ = try Errno.check(clinux_clock_watch_arm(alarm.number))
    self.init(alarm) { clinux_clock_watch_read($0) }
  }

  /// Watches a descriptor that stands for the alarm, in a test, which cannot set the machine's clock.
  package init(_ descriptor: consuming FileDescriptor, read: @escaping @Sendable (Int32) -> Int64) {
    self.descriptor = descriptor
    readAlarm = read
  }

  /// Looks whether the clock was set since the last look, and watches on.
  package func look() -> Finding {
    let finding = Finding(reading: readAlarm(descriptor.number))
    // A stand-in cannot be armed, which does no harm.
    if finding == .wasSet { _ = clinux_clock_watch_arm(descriptor.number) }
    return finding
  }
}
