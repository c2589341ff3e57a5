internal import JSON

/// The framing of messages in a byte stream.
///
/// A connection's first non-blank byte decides once, for both directions.
public enum Framing: Sendable, Equatable {
  /// One message a line, ended by a line feed.
  case lines
  /// The base protocol of language servers: `Content-Length: N`, a blank line, N bytes.
  case headers

  /// The name in capabilities and options.
  public var name: String {
    switch self {
    case .lines: "lines"
    case .headers: "headers"
    }
  }

  /// The most bytes that framing adds to a message: the header with a number of 19 digits, the largest there is.
  package static let largestOverhead = 16 + 19 + 4

  /// Appends one message to a connection's output.
  ///
  /// The header block is exactly one `Content-Length` line: some clients look no further than 100 bytes ahead, and
  /// compare the name case by case.
  public func append(_ message: Span<UInt8>, to output: inout [UInt8]) {
    output.makeRoom(for: message.count + Self.largestOverhead)
    begin(messageOf: message.count, to: &output)
    output.append(copying: message)
    end(&output)
  }

  /// Appends the framing before a message of `byteCount` bytes.
  public func begin(messageOf byteCount: Int, to output: inout [UInt8]) {
    guard self == .headers else { return }
    output.append(contentsOf: "Content-Length: \(byteCount)\r\n\r\n".utf8)
  }

  /// Appends the framing behind a message.
  public func end(_ output: inout [UInt8]) {
    if self == .lines { output.append(UInt8(ascii: "\n")) }
  }
}
