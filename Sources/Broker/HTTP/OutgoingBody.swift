import CCurl
import SecretMemory

/// The body of a mail or an upload, with the position up to which libcurl has sent it.
struct OutgoingBody {
  private let exchange: Exchange
  private var position = 0

  /// Begins with nothing sent.
  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Writes what comes next; on the client's thread.
  ///
  /// - Returns: how many bytes were written, or what libcurl is to do in place of sending.
  @unsafe
  mutating func fill(_ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    switch exchange.work {
    case .mail(let mail):
      return mail.content.withBytes { bytes in
        let count = min(room.count, bytes.count - position)
        // There is room for as many bytes as are written.
        for index in 0..<count { unsafe room[index] = bytes[position + index] }
        position += count
        return count
      }
    case .request:
      guard let upload = exchange.stream?.upload else { return 0 }
      // As above.
      return unsafe ask(upload, room)
    }
  }

  // Never more than was announced, since the rest would pass for a request; and less is no end.
  @unsafe
  private mutating func ask(_ upload: HTTPUpload, _ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    // A part of the room that is lent.
    let room = unsafe UnsafeMutableBufferPointer(
      rebasing: room.prefix(upload.count.map { $0 - position } ?? room.count))
    guard !room.isEmpty else { return 0 }
    // The span is of this room, here and below.
    var span = unsafe OutputSpan(buffer: room, initializedCount: 0)
    let mayFollow = upload.source.fill(&span)
    // As above.
    let count = unsafe span.finalize(for: room)
    position += count
    if count > 0 { return count }
    guard !mayFollow else { return Int(CURL_READFUNC_PAUSE) }
    return upload.count == nil ? 0 : Int(CURL_READFUNC_ABORT)
  }
}
