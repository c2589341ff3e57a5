import HTTPMessage
import LinuxSystem
import SecretMemory

/// One connection of a browser to the loopback address.
final class RedirectConnection {
  /// The time for a browser to send its request, and to notice the answer: it is on this machine.
  static let patience = Duration.seconds(10)
  private static let farewell = Duration.seconds(2)

  /// The outcome of reading.
  enum Event {
    /// Nothing yet.
    case nothing
    /// The request is complete.
    case request
    /// It cannot be one.
    case malformed(status: Int)
    /// The browser has gone, or has its answer.
    case over
  }

  /// The connection.
  let descriptor: FileDescriptor
  /// The request.
  private(set) var request = RedirectRequest()
  /// When it is given up.
  private(set) var deadline: Duration
  private var isAnswered = false

  /// A new connection.
  init(_ descriptor: consuming FileDescriptor, at now: Duration) {
    self.descriptor = descriptor
    deadline = now + Self.patience
  }

  deinit {
    request.wipe()
  }

  /// Reads the available bytes, once.
  func read() -> Event {
    var buffer = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&buffer) }
    switch descriptor.receive(into: &buffer) {
    case .wouldBlock: return .nothing
    case .endOfStream, .failed: return .over
    case .bytes(let count):
      // What comes after the answer is only read so that closing does not discard the answer (RFC 9112, section 9.6).
      guard !isAnswered else { return .nothing }
      switch request.read(buffer.span.extracting(first: count)) {
      case .incomplete: return .nothing
      case .complete: return .request
      case .refused(let status): return .malformed(status: status)
      }
    }
  }

  /// Sends a page; the connection is over once the browser has it.
  func answer(_ page: RedirectPage, at now: Duration) {
    let response = page.response
    // A page is smaller than any socket's buffer: it goes out whole, or the browser has gone.
    _ = descriptor.send(response.span)
    try? descriptor.finishSending()
    isAnswered = true
    deadline = now + Self.farewell
  }
}
