/// Bytes on their way: filled once, then drained to the end before it is filled again.
struct RelayBuffer {
  /// Their storage; of no meaning outside `pending`.
  var bytes: [UInt8]
  /// The bytes that are still to be moved on.
  private(set) var pending: Range<Int> = 0..<0

  /// An empty buffer that holds at most `capacity` bytes.
  init(capacity: Int) {
    bytes = Array(repeating: 0, count: capacity)
  }

  /// Whether it can be filled again.
  var isEmpty: Bool { pending.isEmpty }

  /// Notes that the first `count` bytes of the storage were written.
  mutating func filled(_ count: Int) {
    pending = 0..<count
  }

  /// Notes that `count` bytes were moved on.
  mutating func drained(_ count: Int) {
    pending = pending.lowerBound + count..<pending.upperBound
  }

  /// Drops what is pending.
  mutating func discard() {
    pending = 0..<0
  }
}
