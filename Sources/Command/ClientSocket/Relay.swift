import JSON
package import LinuxSystem
internal import StateDirectory

/// Joins standard input and output to a broker's socket, byte for byte, until one side ends.
///
/// The end of the input is passed on as a half-close, so that answers in flight still arrive. Each direction holds at
/// most one buffer: a reader that is slow slows down its own writer alone.
package struct Relay: ~Copyable {
  /// The way in which a relay ends.
  package enum Outcome: Equatable, Sendable {
    /// The input ended, and the broker then finished: everything in flight was written.
    case inputEnded
    /// The broker closed the connection after the last request, `shutdown`, which asks for that.
    case shutDown
    /// The broker closed the connection first.
    case brokerClosed
    /// The output is no longer read.
    case outputClosed
    /// A descriptor failed.
    case failed(Errno)
  }

  /// The size of a pipe (pipe(7)): more would not be moved by one call.
  private static let bufferSize = 64 * 1024

  private let input: InheritedStream
  private let output: InheritedStream
  private let socket: FileDescriptor
  private var requests = RelayBuffer(capacity: bufferSize)
  private var answers = RelayBuffer(capacity: bufferSize)
  private var inputHasEnded = false
  private var hasFinishedSending = false
  private var brokerHasClosed = false
  private var shutdown = ShutdownScan()
  private var lastAnswerByte = UInt8(ascii: "\n")
  /// How many bytes the broker's last answers have, which stay in their buffer.
  private var lastAnswerLength = 0
  private var poll = PollSet(count: 3)

  /// Prepares to copy.
  package init(
    input: consuming InheritedStream, output: consuming InheritedStream, socket: consuming FileDescriptor
  ) {
    self.input = input
    self.output = output
    self.socket = socket
  }

  /// Copies until the end.
  ///
  /// `SIGPIPE` must be ignored.
  ///
  /// - Parameter explain: told, before the end, why the broker closed the connection, if it said so.
  /// - Returns: how it ended.
  package consuming func run(explain: (String) -> Void = { _ in }) -> Outcome {
    let outcome = copyToEnd()
    if outcome == .brokerClosed, let reason { explain(reason) }
    return outcome
  }

  /// The broker's last words, if they are an error that belongs to no request.
  private var reason: String? {
    let lines = answers.bytes[..<lastAnswerLength].split(separator: UInt8(ascii: "\n"))
    guard let line = lines.last, let root = try? JSONDocument(parsing: Array(line)).root, let id = root["id"],
      Array(id.text) == Array("null".utf8), let message = try? root["error"]?["message"]?.string()
    else { return nil }
    return PlainText.line(message.utf8)
  }

  private mutating func copyToEnd() -> Outcome {
    while true {
      poll.watch(0, input.descriptor.number, readable: !inputHasEnded && !brokerHasClosed && requests.isEmpty)
      poll.watch(1, socket.number, readable: answers.isEmpty, writable: !requests.isEmpty)
      poll.watch(2, output.descriptor.number, writable: !answers.isEmpty)
      do throws(Errno) { _ = try poll.wait() } catch { return .failed(error) }
      if poll.isReady(0), let outcome = readInput() { return outcome }
      if let outcome = sendRequests() { return outcome }
      if poll.isReady(1), answers.isEmpty, let outcome = receiveAnswers() { return outcome }
      if let outcome = writeAnswers() { return outcome }
    }
  }

  private mutating func readInput() -> Outcome? {
    switch input.read(into: &requests.bytes) {
    case .bytes(let count):
      requests.filled(count)
      shutdown.scan(requests.bytes, count)
    case .wouldBlock: break
    case .endOfStream: inputHasEnded = true
    case .failed(let error): return .failed(error)
    }
    return nil
  }

  private mutating func sendRequests() -> Outcome? {
    while !requests.isEmpty {
      switch socket.send(requests.bytes, requests.pending) {
      case .bytes(let count): requests.drained(count)
      case .wouldBlock: return nil
      case .endOfStream, .failed(.brokenPipe), .failed(.connectionReset):
        // What the broker said last may still be waiting to be read; its end is found behind that.
        requests.discard()
        brokerHasClosed = true
      case .failed(let error): return .failed(error)
      }
    }
    if inputHasEnded, !hasFinishedSending {
      hasFinishedSending = true
      try? socket.finishSending()
    }
    return nil
  }

  private mutating func receiveAnswers() -> Outcome? {
    switch socket.receive(into: &answers.bytes) {
    case .bytes(let count):
      answers.filled(count)
      lastAnswerLength = count
      lastAnswerByte = answers.bytes[count - 1]
    case .wouldBlock: break
    case .failed(.connectionReset): return .brokerClosed
    case .endOfStream:
      if inputHasEnded, !brokerHasClosed { return .inputEnded }
      return shutdown.isLastRequest && isBetweenAnswers ? .shutDown : .brokerClosed
    case .failed(let error): return .failed(error)
    }
    return nil
  }

  /// Lines end with a line feed, and the messages of the other framing with a brace: anything else was cut short.
  private var isBetweenAnswers: Bool {
    lastAnswerByte == UInt8(ascii: "\n") || lastAnswerByte == UInt8(ascii: "}")
  }

  private mutating func writeAnswers() -> Outcome? {
    while !answers.isEmpty {
      switch output.write(answers.bytes, answers.pending) {
      case .bytes(let count): answers.drained(count)
      case .wouldBlock: return nil
      case .endOfStream, .failed(.brokenPipe), .failed(.connectionReset): return .outputClosed
      case .failed(let error): return .failed(error)
      }
    }
    return nil
  }
}
