import SecretMemory

/// The requests of a batch that wait for their connection's next turn.
///
/// Each is kept by itself, so that a turn reads the requests that it takes in and none of the others.
struct OpenBatch {
  /// Names the batch among those that wait for answers.
  let id: UInt64
  /// The requests as they were sent, the next one last.
  private var requests: [[UInt8]]

  /// Copies requests out of the text of a batch.
  init(_ id: UInt64, _ ranges: some BidirectionalCollection<Range<Int>>, of text: Span<UInt8>) {
    self.id = id
    requests = ranges.reversed().map { range in range.map { text[$0] } }
  }

  /// Whether none waits any more.
  var isEmpty: Bool { requests.isEmpty }

  /// How much memory they take.
  var byteCount: Int { requests.reduce(0) { $0 + $1.count } }

  /// Takes the next request out; its bytes, which may hold a password, are the caller's to wipe.
  mutating func next() -> [UInt8]? { requests.popLast() }

  /// Forgets the requests.
  mutating func clear() {
    for index in requests.indices { wipe(&requests[index]) }
    requests = []
  }
}
