package import LinuxSystem

/// Signals as events of a loop (signalfd(2)), so that they are handled in order and not in the middle of something.
package final class SignalSource: EventHandler {
  private let loop: EventLoop
  private let pending: SignalDescriptor
  private let handler: (Signal) -> Void
  private var registration: Registration?

  /// Blocks the signals on this thread and listens for them.
  ///
  /// It has to be done before other threads are started, since they inherit the mask: a thread that does not block a
  /// signal would be killed by it. A program that is started through `ChildProcess` has an empty mask again.
  ///
  /// - Throws: `EMFILE` and the like.
  package init(loop: EventLoop, signals: [Signal], handler: @escaping (Signal) -> Void) throws(Errno) {
    try Signal.block(signals)
    self.loop = loop
    self.handler = handler
    pending = try SignalDescriptor(signals)
    registration = try loop.register(pending.descriptor, .readable, self)
  }

  /// Stops listening; the signals stay blocked.
  package func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
  }

  /// Hands out what is pending.
  package func ready(_ events: ReadyEvents) {
    while let signal = pending.next() { handler(signal) }
  }
}
