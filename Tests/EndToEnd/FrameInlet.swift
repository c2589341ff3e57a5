import JSON
import JSONRPC
import LinuxSystem
import TestSupport

/// Reads messages and insists that there is nothing else.
final class FrameInlet {
  private let inlet: ByteInlet
  private var frames: FrameReader
  private var pending: [UInt8] = []

  init(_ inlet: ByteInlet, _ framing: Framing) {
    self.inlet = inlet
    frames = FrameReader(messageByteLimit: 1 << 26, framing: framing)
  }

  /// The next message, which is JSON; nil at the end of the stream.
  ///
  /// - Throws: ``TestFailure`` for bytes that are no frame, or if nothing comes in time.
  func next(within limit: Duration = Patience.ceiling) throws -> [UInt8]? {
    let deadline = BootClock.now + limit
    while true {
      switch frames.step(pending.span) {
      case .message(let range, let consumed):
        let message = Array(pending[range])
        pending.removeFirst(consumed)
        _ = try JSONDocument(parsing: message)
        return message
      case .needsMore(let consumed):
        pending.removeFirst(consumed)
        let more = try inlet.read(until: deadline)
        guard !more.isEmpty else {
          guard pending.isEmpty else { throw TestFailure("the stream ended inside a frame: \(text(pending))") }
          return nil
        }
        pending += more
      case .tooLong, .broken: throw TestFailure("not a frame: \(text(pending))")
      }
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(400), as: UTF8.self) }
}
