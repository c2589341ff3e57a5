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
/// They lie in blocks: an array that grows by twice its size takes up to three times as much, and leaves holes of every
/// size in the heap. They are wiped as soon as they are sent: answers carry tokens.
struct OutputQueue {
  /// The size from which on a block takes no further message; from half of it on where another message would hardly fit.
  static let blockSize = 1 << 16

  /// The blocks before the last one.
  private var full: [[UInt8]] = []
  /// How many bytes those have.
  private var fullCount = 0
  /// The last block.
  private var last: [UInt8] = []
  /// How many bytes of the first block are sent and wiped.
  private var head = 0
  /// Whether a token may be among the bytes.
  var holdsToken = false
  /// Whether tokens must not wait any more: the vault was locked.
  var dropsTokens = false

  /// The block to which the next message is appended.
  var bytes: [UInt8] {
    _read { yield last }
    _modify {
      if isFull { closeLast() }
      yield &last
    }
  }

  /// How many bytes wait.
  var count: Int { fullCount + last.count - head }
  /// Whether nothing waits.
  var isEmpty: Bool { last.isEmpty && full.isEmpty }
  /// How much memory the bytes take.
  var capacity: Int { full.reduce(last.capacity) { $0 + $1.capacity } }

  /// Whether the last block takes no further message.
  private var isFull: Bool {
    last.count >= Self.blockSize || last.count > Self.blockSize / 2 && last.capacity - last.count < last.count / 8
  }

  private mutating func closeLast() {
    fullCount += last.count
    full.append(last)
    last = []
  }

  /// Writes the first block that waits, as far as the stream takes it.
  func write(to stream: any ClientStream) -> IOResult {
    let first = full.first ?? last
    return stream.write(first.span.extracting(head...))
  }

  /// Notes that so many bytes of the first block were taken.
  mutating func sent(_ count: Int) {
    guard !full.isEmpty else {
      wipe(&last, head..<head + count)
      head += count
      guard head == last.count else { return }
      last.removeAll(keepingCapacity: true)
      head = 0
      return
    }
    wipe(&full[0], head..<head + count)
    head += count
    guard head == full[0].count else { return }
    fullCount -= full.removeFirst().count
    head = 0
  }

  /// Forgets everything.
  mutating func clear() {
    for index in full.indices { wipe(&full[index]) }
    wipe(&last)
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
