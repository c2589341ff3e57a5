import SecretMemory

/// Puts a response's header together from what libcurl hands over, and stops it at the limits.
struct HeaderCollector {
  private let limits: HTTPLimits
  private var lines: [UInt8] = []
  // All of the exchange: interim responses and trailers count too.
  private var headerBytes = 0
  private var headerLines = 0
  /// Whether the empty line after the present header has come; trailers may follow.
  private(set) var isComplete = false

  /// Begins with nothing.
  init(limits: HTTPLimits) {
    self.limits = limits
  }

  /// Takes a line of a header, with its end.
  ///
  /// - Returns: whether the limits allow it.
  mutating func collect(_ line: Span<UInt8>) -> Bool {
    headerBytes += line.count
    headerLines += 1
    guard headerBytes <= limits.headerBytes, headerLines <= limits.headerLines else { return false }
    if Self.isStatusLine(line) {
      // What came before was an interim response.
      wipe(&lines)
      lines.removeAll(keepingCapacity: true)
      isComplete = false
      return true
    }
    guard !isComplete else { return true }
    if line.indices.allSatisfy({ line[$0] == 0x0D || line[$0] == 0x0A }) {
      isComplete = true
      return true
    }
    lines.reserveWiping(line.count + 1)
    for index in line.indices where line[index] != 0x0A { lines.append(line[index]) }
    lines.append(0x0A)
    return true
  }

  /// The response without its body, once its header is complete; the collector is empty afterwards.
  ///
  /// - Returns: nil where the status is none that ends an exchange.
  mutating func head(status: Int) -> HTTPResponse? {
    guard isComplete, (200...599).contains(status) else { return nil }
    return HTTPResponse(status: status, lines: WipedBytes(taking: &lines), body: .none)
  }

  /// Wipes what was collected of a response that failed.
  mutating func wipeAll() { wipe(&lines) }

  private static func isStatusLine(_ line: Span<UInt8>) -> Bool {
    let mark = "HTTP/".utf8.span
    return line.count >= mark.count && mark.indices.allSatisfy { line[$0] == mark[$0] }
  }
}

/// Takes a body that is wanted whole, up to a limit: the one defence against an endless response, because
/// `CURLOPT_MAXFILESIZE` did not stop a running transfer before 8.4.
final class BodyCollector: ResponseSink {
  private let limit: Int
  private var body: [UInt8] = []

  /// Begins with nothing.
  init(limit: Int) { self.limit = limit }

  deinit { wipe(&body) }

  /// The header is its transfer's.
  func begin(_ head: HTTPResponse) {}

  /// Takes a piece.
  func take(_ piece: Span<UInt8>) -> PieceAnswer {
    guard piece.count <= limit - body.count else { return .tooMuch }
    body.reserveWiping(piece.count)
    // The span is not kept; an array copies faster from a buffer than byte by byte.
    unsafe piece.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
    return .taken
  }

  /// The body, unpacked where it came so; the collector is empty afterwards.
  func finish() -> WipedBytes {
    if var unpacked = Gzip.unpacked(body, limit: limit) {
      swap(&body, &unpacked)
      wipe(&unpacked)
    }
    return WipedBytes(taking: &body)
  }
}
