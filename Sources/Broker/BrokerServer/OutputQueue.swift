import LinuxSystem
import SecretMemory

/// What a client has not taken yet.
///
/// Bytes are wiped as soon as they are sent: answers carry tokens.
struct OutputQueue {
  /// Everything that waits, behind `head` bytes that are sent and wiped.
  var bytes: [UInt8] = []
  private var head = 0

  /// How many bytes wait.
  var count: Int { bytes.count - head }

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// Writes what the stream takes of the part that waits.
  func write(to stream: any ClientStream) -> IOResult { stream.write(bytes.span.extracting(head...)) }

  /// Notes that so many bytes were taken.
  mutating func sent(_ count: Int) {
    wipe(&bytes, head..<head + count)
    head += count
    if head == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 1 << 16, head > bytes.count / 2 {
      let rest = Array(bytes[head...])
      wipe(&bytes)
      bytes = rest
      head = 0
    }
  }
}
