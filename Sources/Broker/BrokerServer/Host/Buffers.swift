import BrokerCore
import LinuxSystem
import SecretMemory

/// The memory that connections use one after the other, so that idle ones have none.
struct Buffers {
  /// A buffer of twice this size at most is used again.
  private static let ordinarySize = 1 << 16

  /// The buffer of every read.
  var scratch: [UInt8]
  /// For the answers of the next turn.
  private var spare: [UInt8] = []

  /// Buffers for turns within limits.
  init(_ limits: Limits) { scratch = [UInt8](repeating: 0, count: limits[.turnBytes]) }

  /// Lends memory to an output that has none.
  mutating func lend(to output: inout OutputQueue) {
    if output.capacity == 0 { swap(&output.bytes, &spare) }
  }

  /// Reuses the buffer of an output that is sent completely.
  mutating func takeBack(from output: inout OutputQueue) {
    var bytes: [UInt8] = []
    swap(&bytes, &output.bytes)
    output = OutputQueue()
    if bytes.capacity <= Self.ordinarySize * 2 { swap(&bytes, &spare) }
  }
}

/// Bytes that a client has not taken yet.
///
/// They are wiped as soon as they are sent: answers carry tokens.
struct OutputQueue {
  /// Everything that waits, behind `head` bytes that are sent and wiped.
  var bytes: [UInt8] = []
  private var head = 0
  /// Whether a token may be among them.
  var holdsToken = false
  /// Whether tokens must not wait any more: the vault was locked.
  var dropsTokens = false

  /// How many bytes wait.
  var count: Int { bytes.count - head }
  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }
  /// How much memory the bytes take.
  var capacity: Int { bytes.capacity }

  /// Writes the waiting part, as far as the stream takes it.
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

  /// Forgets everything.
  mutating func clear() {
    wipe(&bytes)
    self = OutputQueue()
  }
}

/// Bytes that a client has sent and that are no complete message yet.
///
/// Bytes are wiped wherever they were: a message may carry a password.
struct InputBuffer {
  /// Everything that waits, behind `head` bytes that were read and wiped.
  private var bytes: [UInt8] = []
  /// The position of the first waiting byte.
  private(set) var head = 0

  /// Whether there are none, as between messages: idle connections cost little.
  var isEmpty: Bool { head == bytes.count }

  /// How much memory the bytes take.
  var capacity: Int { bytes.capacity }

  /// Appends bytes, in place where there is room.
  mutating func append(_ more: ArraySlice<UInt8>) {
    if bytes.capacity - bytes.count < more.count {
      var larger: [UInt8] = []
      let count = bytes.count - head
      // Twice the size, so that a message that comes in pieces is not copied more often than its length.
      larger.reserveCapacity(max(2 * count, count + more.count))
      larger += bytes[head...]
      clear()
      bytes = larger
    }
    bytes += more
  }

  /// Moves everything out, from before ``head`` on, while messages are read from it, so that it has one owner.
  mutating func takeOut() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    head = 0
    return taken
  }

  /// Puts back so many bytes at the end of those that were taken out, and wipes the rest of them.
  ///
  /// `taken` is the only owner of its bytes, or the wipe would reach a copy of them; it is empty afterwards. No more is
  /// copied than was read, however often this happens to one buffer.
  mutating func putBack(_ rest: Int, of taken: inout [UInt8], from oldHead: Int) {
    let start = taken.count - rest
    wipe(&taken, oldHead..<start)
    if rest > 0, start <= taken.count / 2 {
      swap(&bytes, &taken)
      head = start
    } else {
      bytes = Array(taken[start...])
      head = 0
      wipe(&taken, start..<taken.count)
    }
    taken = []
  }

  /// Forgets everything.
  mutating func clear() {
    wipe(&bytes)
    bytes = []
    head = 0
  }
}
