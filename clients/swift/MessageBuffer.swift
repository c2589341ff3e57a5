import JSON
import JSONRPC
import LinuxSystem
import SecretMemory

/// Bytes that came from the broker, until they are whole messages; what has been read is wiped.
struct MessageBuffer: ~Copyable {
  /// The longest answer that is accepted: the broker queues at most one answer of more than 4 MiB.
  static let messageByteLimit = 16 << 20

  /// At first a page, which is enough for any usual answer.
  private var bytes = [UInt8](repeating: 0, count: 4096)
  private var filled = 0
  private var consumed = 0
  private var frames = FrameReader(messageByteLimit: messageByteLimit, framing: .lines)

  /// Reads once, without waiting, what a socket has.
  mutating func fill(from socket: borrowing FileDescriptor) -> IOResult {
    makeRoom()
    let result = socket.receive(into: &bytes, at: filled)
    if case .bytes(let count) = result { filled += count }
    return result
  }

  /// Takes the next whole message.
  ///
  /// - Returns: nil if more must be read first.
  /// - Throws: `unexpectedAnswer` for a message beyond the limit.
  mutating func next() throws(ClientError) -> [UInt8]? {
    // A copy, because a span of one part of a noncopyable value lends all of it.
    var frames = self.frames
    let step = frames.step(bytes.span.extracting(consumed..<filled))
    self.frames = frames
    switch step {
    case .needsMore(let count):
      drop(count)
      return nil
    case .message(let range, let count):
      let message = Array(
        copying: bytes.span.extracting(consumed + range.lowerBound..<consumed + range.upperBound))
      drop(count)
      return message
    case .tooLong: throw .unexpectedAnswer("a message has more than \(Self.messageByteLimit) bytes")
    case .broken(let why): throw .unexpectedAnswer(why)
    }
  }

  private mutating func drop(_ count: Int) {
    wipe(&bytes, consumed..<consumed + count)
    consumed += count
    guard consumed == filled else { return }
    consumed = 0
    filled = 0
  }

  private mutating func makeRoom() {
    guard filled == bytes.count else { return }
    // Into storage of its own size, so that the old one can be wiped: an array that grows leaves its bytes behind.
    let isHalfEmpty = consumed > bytes.count / 2
    var larger = [UInt8](repeating: 0, count: isHalfEmpty ? bytes.count : bytes.count * 2)
    for index in consumed..<filled { larger[index - consumed] = bytes[index] }
    wipe(&bytes)
    bytes = larger
    filled -= consumed
    consumed = 0
  }
}
