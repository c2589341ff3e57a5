import LinuxSystem

/// Signals that wait until they are looked at, for as long as the value lives; then the kernel delivers what is left.
struct HeldSignals: ~Copyable {
  /// The signals by which people and service managers end a program.
  static let ending: [Signal] = [.interrupt, .terminate, .hangUp]

  private let signals: [Signal]
  /// Readable while one waits.
  let pending: SignalDescriptor

  /// Holds signals back on this thread.
  ///
  /// - Throws: a failure with what signalfd(2) says; nothing is held back then.
  init(_ signals: [Signal] = HeldSignals.ending) throws(CommandFailure) {
    do throws(Errno) {
      try Signal.block(signals)
      do throws(Errno) { pending = try SignalDescriptor(signals) } catch {
        try? Signal.unblock(signals)
        throw error
      }
    } catch { throw CommandFailure(.failure, "signals cannot be received: \(error)") }
    self.signals = signals
  }

  deinit { try? Signal.unblock(signals) }

  /// Takes the next one that waits.
  func next() -> Signal? { pending.next() }

  /// Lets the signals through while something is done that any of them may end.
  func lettingThrough<Value: ~Copyable>(_ body: () throws(CommandFailure) -> Value) throws(CommandFailure) -> Value {
    try? Signal.unblock(signals)
    defer { try? Signal.block(signals) }
    return try body()
  }

  /// Holds them back again, where a question at the terminal has let them through.
  func holdAgain() { try? Signal.block(signals) }

  /// Ends here and not before: what was held back is delivered.
  consuming func release() {}
}
