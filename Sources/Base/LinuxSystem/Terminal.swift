import CLinux

/// Asking a person at the controlling terminal, whatever standard input is.
package enum Terminal {
  /// Why there is no answer.
  package enum Refusal: Error, Equatable, Sendable {
    /// The process has no terminal.
    case noTerminal
    /// The person pressed Ctrl-C, or the terminal is going away.
    case interrupted(Signal)
    /// The person pressed Ctrl-D, or the answer is longer than a terminal line can be.
    case noAnswer
    /// The kernel said no.
    case failed(Errno)
  }

  /// The most bytes that a terminal gives in one line (termios(3)).
  private static let longestLine = 4096

  /// True if a descriptor is a terminal.
  package static func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }

  /// How many columns a terminal has; nil where that is not known.
  package static func columns(_ number: Int32) -> Int? {
    let columns = Int(clinux_terminal_columns(number))
    return columns > 0 ? columns : nil
  }

  /// How many rows a terminal has; nil where that is not known.
  package static func rows(_ number: Int32) -> Int? {
    let rows = Int(clinux_terminal_rows(number))
    return rows > 0 ? rows : nil
  }

  /// Asks and reads one line that is not shown.
  ///
  /// The line is read into the returned array and nowhere else; the caller wipes it. The terminal gets its old settings
  /// back on every way out: the signals that would end the process are held back, and reported instead.
  ///
  /// - Parameter prompt: shown before the answer.
  /// - Returns: the line without its end.
  /// - Throws: if there is no terminal or no answer.
  package static func readHiddenLine(prompt: String) throws(Refusal) -> [UInt8] {
    let terminal = try open()
    let signals: [Signal] = [.interrupt, .terminate, .hangUp, .quit, .stop]
    do throws(Errno) { try Signal.block(signals) } catch { throw .failed(error) }
    defer { try? Signal.unblock(signals) }
    let pending = try listen(to: signals)
    let number = terminal.number
    let before = clinux_terminal_echo(number, 0)
    guard before >= 0 else { throw .failed(Errno(code: -before)) }
    defer { _ = clinux_terminal_echo(number, before) }
    _ = terminal.write(Array(prompt.utf8).span)
    // The person's own line end is not shown, and an interrupted question must not share its line with what follows.
    defer { _ = terminal.write([UInt8(ascii: "\n")].span) }
    return try readLine(terminal, pending)
  }

  private static func open() throws(Refusal) -> FileDescriptor {
    do { return try FileDescriptor.open("/dev/tty", .readWrite) } catch { throw .noTerminal }
  }

  private static func listen(to signals: [Signal]) throws(Refusal) -> SignalDescriptor {
    do { return try SignalDescriptor(signals) } catch { throw .failed(error) }
  }

  private static func readLine(
    _ terminal: borrowing FileDescriptor, _ pending: borrowing SignalDescriptor
  ) throws(Refusal) -> [UInt8] {
    var line = [UInt8](repeating: 0, count: longestLine)
    var poll = PollSet(count: 2)
    poll.watch(0, terminal.number, readable: true)
    poll.watch(1, pending.descriptor.number, readable: true)
    while true {
      do throws(Errno) { _ = try poll.wait() } catch { throw .failed(error) }
      if let signal = pending.next() { throw .interrupted(signal) }
      guard poll.isReady(0) else { continue }
      switch terminal.read(into: &line) {
      case .bytes(let count):
        guard line[count - 1] == UInt8(ascii: "\n") else { throw .noAnswer }
        line.removeLast(line.count - count + 1)
        return line
      case .wouldBlock: continue
      case .endOfStream: throw .noAnswer
      case .failed(let error): throw .failed(error)
      }
    }
  }
}
