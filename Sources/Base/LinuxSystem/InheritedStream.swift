import CLinux

/// One direction of a standard stream that others may share, used without waiting and without changing it for them.
///
/// `O_NONBLOCK` belongs to the open file, not to the descriptor: set on a shared terminal it would break the shell that
/// comes back after us, and an exit handler that resets it does not survive a kill. So the flag is never set on what
/// was inherited. Instead, by kind:
/// - an anonymous pipe or a terminal is opened once more through `/proc/self/fd`, which makes an open file of our own
///   with its own flags;
/// - a socket is used with `MSG_DONTWAIT`;
/// - a regular file never makes anybody wait;
/// - for the rest (a named FIFO, or `/proc` is missing) each call asks poll(2) first, and writes at most `PIPE_BUF`
///   bytes, which a pipe that is writable takes without waiting (pipe(7)).
package struct InheritedStream: ~Copyable {
  private enum Way {
    case ownOpenFile, socket, asking
  }

  /// The direction of the bytes.
  package enum Direction: Sendable {
    /// Bytes come in.
    case reading
    /// Bytes go out.
    case writing
  }

  /// For an event loop or `PollSet` to wait on.
  package let descriptor: FileDescriptor
  private let way: Way

  /// Takes over a duplicate of an inherited descriptor.
  ///
  /// - Throws: what fstat(2) says.
  package init(_ inherited: consuming FileDescriptor, _ direction: Direction) throws(Errno) {
    switch try inherited.status().kind {
    case .socket:
      descriptor = inherited
      way = .socket
    case .regular:
      descriptor = inherited
      way = .ownOpenFile
    case .pipe where clinux_is_anonymous_pipe(inherited.number) == 1,
      .characterDevice where Terminal.isTerminal(inherited.number):
      let mode: FileDescriptor.OpenMode = direction == .reading ? .read : .write
      let path = "/proc/self/fd/\(inherited.number)"
      if let own = try? FileDescriptor.open(path, [mode, .nonBlocking, .noControllingTerminal]) {
        descriptor = own
        way = .ownOpenFile
      } else {
        descriptor = inherited
        way = .asking
      }
    default:
      descriptor = inherited
      way = .asking
    }
  }

  /// Reads the available bytes, without waiting, into the non-empty part of `buffer` from `start` on, up to `limit` if
  /// one is given.
  package func read(into buffer: inout [UInt8], at start: Int = 0, upTo limit: Int? = nil) -> IOResult {
    switch way {
    case .ownOpenFile: descriptor.read(into: &buffer, at: start, upTo: limit)
    case .socket: descriptor.receive(into: &buffer, at: start, upTo: limit)
    case .asking: isReady(.reading) ? descriptor.read(into: &buffer, at: start, upTo: limit) : .wouldBlock
    }
  }

  /// Writes as much as is taken without waiting.
  ///
  /// `SIGPIPE` must be ignored.
  package func write(_ bytes: Span<UInt8>) -> IOResult {
    switch way {
    case .ownOpenFile: descriptor.write(bytes)
    case .socket: descriptor.send(bytes)
    case .asking: isReady(.writing) ? descriptor.write(bytes.extracting(first: Int(PIPE_BUF))) : .wouldBlock
    }
  }

  /// Writes once from a range of an array.
  package func write(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> IOResult {
    write(buffer.span.extracting(range))
  }

  private func isReady(_ direction: Direction) -> Bool {
    var poll = PollSet(count: 1)
    poll.watch(0, descriptor.number, readable: direction == .reading, writable: direction == .writing)
    return (try? poll.wait(atMost: .zero)) == 1
  }
}
