import JSONRPC

/// Plays a connection's reads into a frame reader and keeps what came out.
struct StreamDriver {
  enum Outcome: Equatable, Sendable {
    case message(String)
    case tooLong
    case broken
  }

  private(set) var outcomes: [Outcome] = []
  private(set) var reader: FrameReader
  private var pending: [UInt8] = []

  init(limit: Int = 1 << 20, framing: Framing? = nil) {
    reader = FrameReader(messageByteLimit: limit, framing: framing)
  }

  /// How many bytes the connection has to keep.
  var pendingCount: Int { pending.count }

  mutating func receive(_ bytes: some Sequence<UInt8>, isFinal: Bool = false) {
    pending += bytes
    while outcomes.last != .broken {
      let bytes = pending
      switch reader.step(bytes.span, isFinal: isFinal) {
      case .needsMore(let consumed):
        pending.removeFirst(consumed)
        return
      case .message(let range, let consumed):
        outcomes.append(.message(String(decoding: pending[range], as: UTF8.self)))
        pending.removeFirst(consumed)
      case .tooLong(let consumed):
        outcomes.append(.tooLong)
        pending.removeFirst(consumed)
      case .broken:
        outcomes.append(.broken)
      }
    }
  }

  /// What comes of a stream that arrives in these pieces.
  static func outcomes(_ pieces: [[UInt8]], limit: Int = 1 << 20) -> [Outcome] {
    var driver = StreamDriver(limit: limit)
    for piece in pieces { driver.receive(piece) }
    driver.receive([], isFinal: true)
    return driver.outcomes
  }

  static func outcomes(_ text: String, limit: Int = 1 << 20) -> [Outcome] {
    outcomes([Array(text.utf8)], limit: limit)
  }
}
