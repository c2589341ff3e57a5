import CLinux

/// The controlling terminal, as a screen that a program draws and keys that come one by one.
///
/// It is an open file of this process alone, so that it can be used without waiting: a terminal that stands still (Ctrl-S)
/// keeps nothing from ending.
///
/// A class, whose end Embedded Swift finds in other modules too.
package final class ScreenTerminal {
  private let descriptor: FileDescriptor
  /// Ready when a key was pressed, or what it was told to wait for is readable.
  package let readiness: Epoll
  /// The mode that the terminal had, and gets back.
  private let before: Int32

  /// Switches to the alternate screen and hides the cursor (xterm's control sequences, terminfo(5): smcup, civis).
  private static let opening = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[2J"
  /// The way back.
  private static let closing = "\u{1B}[?25h\u{1B}[?1049l"
  /// How long a terminal that takes nothing is waited for: the next picture is drawn all the same.
  private static let patience = Duration.milliseconds(200)

  /// Takes the terminal over.
  ///
  /// A process in the background is stopped here until it is in the foreground (SIGTTOU).
  ///
  /// - Parameter number: another descriptor to wait for.
  /// - Throws: what open(2), epoll_ctl(2) and tcsetattr(3) say; the terminal is as it was then.
  package init(besides number: Int32) throws(Errno) {
    let terminal = try FileDescriptor.open("/dev/tty", [.readWrite, .nonBlocking, .noControllingTerminal])
    let readiness = try Epoll(capacity: 2)
    try readiness.add(terminal.number, .readable, token: 0)
    try readiness.add(number, .readable, token: 1)
    let mode = try Errno.check(clinux_terminal_mode(terminal.number, 0))
    descriptor = terminal
    self.readiness = readiness
    before = mode
    write(Self.opening)
  }

  deinit {
    // In this order: what is typed meanwhile is shown on the screen that it belongs to.
    write(Self.closing)
    _ = clinux_terminal_mode(descriptor.number, before)
  }

  /// The size in characters; what is usual where the terminal does not know.
  package var size: (rows: Int, columns: Int) {
    (Terminal.rows(descriptor.number) ?? 24, Terminal.columns(descriptor.number) ?? 80)
  }

  /// Draws a picture in the place of the one before, without a moment in which there is none.
  ///
  /// - Parameter lines: the lines, none of which is wider than the screen; colours are allowed in them.
  package func draw(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  /// The bytes of the keys that were pressed; nil where the terminal has gone.
  package func keys() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 64)
    return switch descriptor.read(into: &bytes) {
    case .bytes(let count): Array(bytes[..<count])
    case .wouldBlock: []
    case .endOfStream, .failed: nil
    }
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      switch descriptor.write(bytes.span.extracting(written..<bytes.count)) {
      case .bytes(let count): written += count
      case .wouldBlock:
        var poll = PollSet(count: 1)
        poll.watch(0, descriptor.number, writable: true)
        guard let ready = try? poll.wait(atMost: Self.patience), ready > 0 else { return }
      case .endOfStream, .failed: return
      }
    }
  }
}
