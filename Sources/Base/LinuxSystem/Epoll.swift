import CLinux

/// A set of descriptors that is waited for together (epoll(7), level-triggered), with room for the events of one wait.
///
/// It belongs to one thread. Safe: the memory it owns is reached through checked indexes only.
@safe
package struct Epoll: ~Copyable {
  /// The readiness of a descriptor.
  package struct Events: OptionSet, Sendable {
    /// The bits of epoll_ctl(2).
    package let rawValue: UInt32

    /// Wraps bits of epoll_ctl(2).
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The events for the directions that are waited for; an array literal would be put together by way of a table.
    @inline(__always)
    package init(reading: Bool, writing: Bool) {
      rawValue = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
    }

    /// Whether one of these is among them: as `contains`, which other modules call by way of a table.
    @inline(__always)
    package func has(_ events: Events) -> Bool { rawValue & events.rawValue != 0 }

    /// Bytes, a connection or the end of the stream can be read.
    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    /// Bytes can be written.
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    /// The peer will send no more.
    package static let peerFinished = Events(rawValue: EPOLLRDHUP.rawValue)
    /// Both directions are over.
    ///
    /// Reported unasked.
    package static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
    /// An error is pending; for the writing end of a pipe: its reader has gone.
    ///
    /// Reported unasked.
    package static let error = Events(rawValue: EPOLLERR.rawValue)
  }

  /// Readable while any descriptor of the set is ready: a set can be waited for as one.
  package let descriptor: FileDescriptor
  private let capacity: Int
  private let events: UnsafeMutableBufferPointer<epoll_event>

  /// Makes an empty set.
  ///
  /// - Parameter capacity: how many events one wait can bring.
  /// - Throws: `EMFILE` and the like.
  package init(capacity: Int) throws(Errno) {
    descriptor = FileDescriptor(owning: try Errno.check(clinux_epoll_create()))
    self.capacity = capacity
    // Owned by this value, freed in deinit; the elements are plain C data, zeroed before any use.
    unsafe events = .allocate(capacity: capacity)
    // As above.
    unsafe events.initialize(repeating: epoll_event())
  }

  deinit {
    // Allocated in init, and freed only here.
    unsafe events.deallocate()
  }

  /// Adds a descriptor.
  ///
  /// `token` comes back with its events.
  ///
  /// - Throws: `EPERM` for a descriptor that is always ready, such as a regular file.
  package func add(_ number: Int32, _ events: Events, token: UInt64) throws(Errno) {
    _ = try Errno.check(clinux_epoll_control(descriptor.number, EPOLL_CTL_ADD, number, events.rawValue, token))
  }

  /// Changes the events that are waited for.
  package func modify(_ number: Int32, _ events: Events, token: UInt64) throws(Errno) {
    _ = try Errno.check(clinux_epoll_control(descriptor.number, EPOLL_CTL_MOD, number, events.rawValue, token))
  }

  /// Takes a descriptor out.
  ///
  /// Done before it is closed: a duplicate elsewhere would keep it in the set.
  package func remove(_ number: Int32) {
    _ = clinux_epoll_control(descriptor.number, EPOLL_CTL_DEL, number, 0, 0)
  }

  /// Waits until something is ready, or returns at once if not told to block.
  ///
  /// - Returns: how many events can be asked for; 0 also after an interruption by a signal.
  package func wait(blocking: Bool) throws(Errno) -> Int {
    // The kernel writes at most `capacity` events into memory that this value owns.
    let result = unsafe clinux_epoll_wait(
      descriptor.number, events.baseAddress, Int32(capacity), blocking ? -1 : 0)
    return Int(try Errno.check(result))
  }

  /// The token and the events at `index` of the last wait.
  @inline(__always)
  package func event(at index: Int) -> (token: UInt64, events: Events) {
    precondition(index >= 0 && index < capacity, "no such event")
    // The index was checked, and all elements are initialised.
    let event = unsafe events.baseAddress.unsafelyUnwrapped + index
    // As above; both calls only read the event.
    return unsafe (clinux_epoll_token(event), Events(rawValue: clinux_epoll_events(event)))
  }
}
