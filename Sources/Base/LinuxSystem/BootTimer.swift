import CLinux

/// One alarm on the boot clock, as a descriptor (timerfd_create(2)).
///
/// It goes off on time after a suspend, too.
package struct BootTimer: ~Copyable {
  /// Readable once the alarm has gone off.
  package let descriptor: FileDescriptor

  /// Makes an alarm that is not set.
  package init() throws(Errno) {
    descriptor = FileDescriptor(owning: try Errno.check(clinux_timerfd()))
  }

  /// Sets the alarm to nanoseconds since boot, in place of an earlier one; a moment in the past goes off at once.
  package func set(to deadline: Int64) {
    // Zero would unset it: timerfd_settime(2).
    let time = max(1, deadline)
    _ = clinux_timerfd_set(descriptor.number, time / 1_000_000_000, time % 1_000_000_000)
  }

  /// Forgets that it has gone off.
  package func clear() {
    clinux_drain_counter(descriptor.number)
  }
}
