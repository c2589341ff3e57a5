#if !hasFeature(Embedded)
import CLinux

extension ChildProcess {
  /// Waits for the end, without taking the exit code.
  ///
  /// - Parameter deadline: when to give up, by `BootClock`.
  /// - Returns: false where it has not ended by then.
  /// - Throws: what the system says of a descriptor.
  package func hasEnded(by deadline: Duration) throws(Errno) -> Bool {
    let end = try endDescriptor()
    var poll = PollSet(count: 1)
    poll.watch(0, end.number, readable: true)
    while true {
      _ = try poll.wait(atMost: max(deadline - BootClock.now, .zero))
      if poll.isReady(0) { return true }
      guard BootClock.now < deadline else { return false }
    }
  }

  /// Asks it, and everything that it started and that stayed in its group, to end (SIGTERM).
  ///
  /// As for ``killGroup()``: only before `wait`, and for a child that was planned with `newSession`.
  package func terminateGroup() { _ = clinux_terminate_group(pid) }
}
#endif
