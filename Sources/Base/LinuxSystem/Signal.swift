import CLinux

/// A signal that a program can receive in order (signal(7)).
package struct Signal: Hashable, Sendable {
  /// The number that the kernel uses.
  package let number: Int32

  /// Wraps a number from 1 to 63.
  package init(number: Int32) {
    precondition(number > 0 && number < 64, "no such signal")
    self.number = number
  }

  /// Stop in order.
  package static let terminate = Signal(number: SIGTERM)
  /// Stop: Ctrl-C.
  package static let interrupt = Signal(number: SIGINT)
  /// Read the configuration again; or the terminal has gone.
  package static let hangUp = Signal(number: SIGHUP)
  /// Ctrl-Z.
  package static let stop = Signal(number: SIGTSTP)
  /// Go on after a stop; what came meanwhile is delivered then.
  package static let goOn = Signal(number: SIGCONT)
  /// The terminal has another size.
  package static let windowChange = Signal(number: SIGWINCH)
  /// Ctrl-\.
  package static let quit = Signal(number: SIGQUIT)

  /// End at once; nothing can be done about it.
  package static let kill = Signal(number: SIGKILL)

  /// Sends the signal to a process.
  package func send(to pid: Int32) throws(Errno) {
    _ = try Errno.check(clinux_signal_send(pid, number))
  }

  /// Sends the signal to every process of a group, which has the number of the process that leads it.
  package func send(toGroup group: Int32) throws(Errno) {
    _ = try Errno.check(clinux_signal_group(group, number))
  }

  /// Holds signals back on this thread and on those it starts from now on.
  package static func block(_ signals: [Signal]) throws(Errno) {
    _ = try Errno.check(clinux_signals_mask(1, mask(signals)))
  }

  /// Lets held-back signals through again on this thread.
  package static func unblock(_ signals: [Signal]) throws(Errno) {
    _ = try Errno.check(clinux_signals_mask(0, mask(signals)))
  }

  /// The form in which `CLinux` takes a set of signals: bit n is signal n.
  static func mask(_ signals: [Signal]) -> UInt64 {
    signals.reduce(0) { $0 | 1 << UInt64($1.number) }
  }
}

/// Blocked signals as a descriptor (signalfd(2)).
package struct SignalDescriptor: ~Copyable {
  /// Readable while a signal is pending.
  package let descriptor: FileDescriptor

  /// Receives the given signals, which must be blocked on every thread.
  package init(_ signals: [Signal]) throws(Errno) {
    descriptor = FileDescriptor(owning: try Errno.check(clinux_signalfd(Signal.mask(signals))))
  }

  /// Takes the next pending signal, if there is one.
  package func next() -> Signal? {
    let number = clinux_signalfd_next(descriptor.number)
    return number > 0 ? Signal(number: number) : nil
  }
}
