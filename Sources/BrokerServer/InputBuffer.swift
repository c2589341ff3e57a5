import SecretMemory

/// What a client has said and what is no complete message yet.
///
/// Bytes are wiped wherever they were: a message may carry a password.
struct InputBuffer {
  /// The bytes, from the beginning of a message.
  private(set) var bytes: [UInt8] = []

  /// Whether there are none, as between messages: idle connections cost little.
  var isEmpty: Bool { bytes.isEmpty }

  /// How much memory the bytes take.
  var capacity: Int { bytes.capacity }

  /// Appends bytes, in place where there is room.
  mutating func append(_ more: ArraySlice<UInt8>) {
    if bytes.capacity - bytes.count < more.count {
      var larger: [UInt8] = []
      // Twice the size, so that a message that comes in pieces is not copied more often than its length.
      larger.reserveCapacity(max(2 * bytes.count, bytes.count + more.count))
      larger += bytes
      wipe(&bytes)
      bytes = larger
    }
    bytes += more
  }

  /// Moves the bytes out while messages are read from them, so that they have one owner.
  mutating func takeOut() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  /// Puts back what is left of bytes that were taken out, and wipes the rest of them.
  ///
  /// `taken` is the only owner of its bytes, or what is wiped would be a copy of them; it is empty afterwards.
  mutating func putBack(_ rest: Range<Int>, of taken: inout [UInt8]) {
    if rest.lowerBound == 0, rest.upperBound == taken.count, !rest.isEmpty {
      swap(&bytes, &taken)
      return
    }
    bytes = Array(taken[rest])
    wipe(&taken)
    taken = []
  }

  /// Forgets everything.
  mutating func clear() {
    wipe(&bytes)
    bytes = []
  }
}
