/// Notices whether the last request in a stream of JSON-RPC messages is `shutdown`, in either framing, without parsing.
///
/// It looks for the member `"method":"shutdown"`, blanks allowed around the colon. A name spelled with escapes is
/// missed, which costs its sender no more than an exit code.
struct ShutdownScan {
  private static let pattern = Array(#""method":"shutdown""#.utf8)
  /// How many bytes of the pattern are the member's name.
  private static let nameLength = 8

  private var matched = 0

  /// Whether the last member `method` seen so far is `"shutdown"`.
  private(set) var isLastRequest = false

  /// Looks at the bytes that come next: the first `count` of a buffer.
  mutating func scan(_ bytes: borrowing [UInt8], _ count: Int) {
    for index in 0..<count { scan(bytes[index]) }
  }

  private mutating func scan(_ byte: UInt8) {
    if byte == Self.pattern[matched] {
      matched += 1
      guard matched == Self.pattern.count else { return }
      isLastRequest = true
      matched = 0
    } else if matched == Self.nameLength || matched == Self.nameLength + 1, byte == 0x20 || byte == 0x09 {
      return
    } else {
      // Another method's name stands where this one would.
      if matched > Self.nameLength { isLastRequest = false }
      matched = byte == Self.pattern[0] ? 1 : 0
    }
  }
}
