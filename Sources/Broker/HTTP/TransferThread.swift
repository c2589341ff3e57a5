import Glibc
import LinuxSystem
import Synchronization

/// The thread on which a client's transfers run, and the messages to it.
///
/// It starts with the first exchange and ends when the client closes, or when it has had nothing to do for a while: an
/// idle client has no thread, no connection and no memory of libcurl's. The next exchange starts it again.
final class TransferThread: Sendable {
  /// The messages to the thread since it last looked.
  struct Mail {
    /// New exchanges, in order.
    var exchanges: [Exchange] = []
    /// Whether any exchange was cancelled, or may go on.
    var hasNews = false
    /// Whether nothing that spends is begun any more.
    var stopsSpending = false
    /// Whether the client is closing: nothing comes after this.
    var isClosing = false
  }

  private struct Mailbox {
    var mail = Mail()
    /// Whether the thread takes mail.
    var isRunning = false
    /// The thread, also one that has ended, until it is joined.
    var thread: SystemThread?
    var closers: [CheckedContinuation<Void, Never>] = []

    /// Waits for the rest of a thread that takes no mail any more.
    mutating func join() {
      thread?.join()
      thread = nil
    }
  }

  /// Rings when there is mail.
  let bell: EventCounter
  private let settings: HTTPClient.Settings
  private let mailbox = Mutex(Mailbox())

  /// Prepares a thread; none is started.
  ///
  /// - Throws: what eventfd(2) says.
  init(_ settings: HTTPClient.Settings) throws(Errno) {
    self.settings = settings
    bell = try EventCounter()
  }

  /// Hands an exchange over.
  func submit(_ exchange: Exchange) {
    let refusal = mailbox.withLock { mailbox -> HTTPFailure? in
      guard !mailbox.mail.isClosing, !(mailbox.mail.stopsSpending && exchange.isSpending) else { return .closed }
      if !mailbox.isRunning { start(&mailbox) }
      guard mailbox.isRunning else { return .overloaded }
      mailbox.mail.exchanges.append(exchange)
      return nil
    }
    if let refusal { exchange.finish(.failure(refusal)) } else { bell.raise() }
  }

  /// Says that some exchange was cancelled, or may go on.
  func notice() {
    mailbox.withLock { $0.mail.hasNews = true }
    bell.raise()
  }

  /// Begins nothing that spends any more.
  func stopSpending() {
    mailbox.withLock { $0.mail.stopsSpending = true }
    bell.raise()
  }

  /// Ends the thread; returns when it is gone, with all that it and its libraries had.
  ///
  /// OpenSSL frees the memory of a thread when that thread ends, and no more once the process has begun to exit: one
  /// that is only about to end would run into exit(3).
  func close() async {
    await withCheckedContinuation { closer in
      let isOver = mailbox.withLock { mailbox in
        mailbox.mail.isClosing = true
        guard mailbox.isRunning else { return true }
        mailbox.closers.append(closer)
        return false
      }
      if isOver { closer.resume() } else { bell.raise() }
    }
    mailbox.withLock { $0.join() }
  }

  /// Ends the thread, without waiting for its end.
  func end() {
    mailbox.withLock { mailbox in
      mailbox.mail.isClosing = true
      mailbox.thread?.detach()
      mailbox.thread = nil
    }
    bell.raise()
  }

  /// Takes the mail; on the thread.
  func collect() -> Mail {
    bell.clear()
    return mailbox.withLock { mailbox in
      let mail = mailbox.mail
      mailbox.mail = Mail(stopsSpending: mail.stopsSpending, isClosing: mail.isClosing)
      return mail
    }
  }

  private func start(_ mailbox: inout Mailbox) {
    mailbox.join()
    mailbox.thread = try? SystemThread { [self] in run() }
    mailbox.isRunning = mailbox.thread != nil
  }

  private func run() {
    ThreadIdentity.setName("http")
    Self.blockSignals()
    repeat {
      do throws(HTTPFailure) {
        try TransferSet(settings, TransferClock(settings.time)).serve(self)
      } catch {
        for exchange in collect().exchanges { exchange.finish(.failure(error)) }
      }
    } while !end()
  }

  /// Blocks the signals of the calling thread: they are other threads' business, and libcurl's writes must not raise
  /// SIGPIPE.
  static func blockSignals() {
    var all = sigset_t()
    // The set is a local variable that both calls use only while they run.
    unsafe sigfillset(&all)
    // As above.
    _ = unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  // Whether the thread may end: not if something came in while it was about to.
  private func end() -> Bool {
    let closers = mailbox.withLock { mailbox -> [CheckedContinuation<Void, Never>]? in
      guard mailbox.mail.exchanges.isEmpty else { return nil }
      mailbox.isRunning = false
      let closers = mailbox.closers
      mailbox.closers = []
      return closers
    }
    guard let closers else { return false }
    for closer in closers { closer.resume() }
    return true
  }
}
