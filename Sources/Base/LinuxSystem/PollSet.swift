import CLinux

/// A few descriptors that a program without an event loop waits for together (poll(2)).
package struct PollSet: Sendable {
  private var entries: [pollfd]

  /// `POLLRDHUP`: the other end sends nothing any more.
  private static let peerHangUp: Int32 = 0x2000

  /// Makes a set of `count` entries, all switched off.
  package init(count: Int) {
    entries = Array(repeating: pollfd(fd: -1, events: 0, revents: 0), count: count)
  }

  /// Chooses the events that entry `index` waits for; none at all switches it off, errors and hang-ups included.
  ///
  /// With `hangUp` it is ready as well when the other end of a socket sends nothing any more.
  package mutating func watch(
    _ index: Int, _ number: Int32, readable: Bool = false, writable: Bool = false, hangUp: Bool = false
  ) {
    let events = (readable ? POLLIN : 0) | (writable ? POLLOUT : 0) | (hangUp ? Self.peerHangUp : 0)
    entries[index] = pollfd(fd: events == 0 ? -1 : number, events: Int16(events), revents: 0)
  }

  /// Waits until something is ready, a signal comes, or the time is over.
  ///
  /// - Returns: how many entries are ready.
  package mutating func wait(atMost limit: Duration? = nil) throws(Errno) -> Int {
    let milliseconds = limit.map { Int32(clamping: ($0.wholeNanoseconds &+ 999_999) / 1_000_000) } ?? -1
    // The pointer is used inside the closure only, for as many entries as there are.
    let result = unsafe entries.withUnsafeMutableBufferPointer { entries in
      // As above.
      unsafe clinux_poll(entries.baseAddress, entries.count, milliseconds)
    }
    return Int(try Errno.check(result))
  }

  /// True if entry `index` is ready: by an event that it waits for, an error or a hang-up.
  package func isReady(_ index: Int) -> Bool { entries[index].revents != 0 }

  /// Whether the connection of entry `index` is over: both ends send nothing any more, or it has failed.
  package func isOver(_ index: Int) -> Bool { entries[index].revents & Int16(POLLHUP | POLLERR) != 0 }
}
