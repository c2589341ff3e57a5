import SecretMemory

/// What a client has said and what is no complete message yet.
///
/// Bytes are wiped wherever they were: a message may carry a password.
struct InputBuffer {
  /// Everything that waits, behind `head` bytes that were read and wiped.
  private var bytes: [UInt8] = []
  /// Where what waits begins.
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
  /// `taken` is the only owner of its bytes, or what is wiped would be a copy of them; it is empty afterwards. No more is
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
