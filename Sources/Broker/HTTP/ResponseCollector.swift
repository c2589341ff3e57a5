import SecretMemory

/// Puts a response together from what libcurl hands over, and stops it at the limits: the one defence against an endless
/// response, because `CURLOPT_MAXFILESIZE` did not stop a running transfer before 8.4.
struct ResponseCollector {
  private let limits: HTTPLimits
  private var lines: [UInt8] = []
  private var body: [UInt8] = []
  // All of the exchange: interim responses and trailers count too.
  private var headerBytes = 0
  private var headerLines = 0
  /// Whether the empty line after the present header has come; trailers may follow.
  private(set) var isHeaderComplete = false
  /// Whether a limit was reached.
  private(set) var isTooLarge = false

  /// Begins with nothing.
  init(limits: HTTPLimits) {
    self.limits = limits
  }

  /// Takes a line of a header, with its end.
  ///
  /// - Returns: whether the transfer may go on.
  mutating func collectLine(_ line: Span<UInt8>) -> Bool {
    headerBytes += line.count
    headerLines += 1
    guard headerBytes <= limits.headerBytes, headerLines <= limits.headerLines else {
      isTooLarge = true
      return false
    }
    if Self.isStatusLine(line) {
      // What came before was an interim response.
      wipe(&lines)
      lines.removeAll(keepingCapacity: true)
      isHeaderComplete = false
      return true
    }
    guard !isHeaderComplete else { return true }
    if line.indices.allSatisfy({ line[$0] == 0x0D || line[$0] == 0x0A }) {
      isHeaderComplete = true
      return true
    }
    lines.reserveWiping(line.count + 1)
    for index in line.indices where line[index] != 0x0A { lines.append(line[index]) }
    lines.append(0x0A)
    return true
  }

  /// Takes a piece of the body.
  ///
  /// - Returns: whether the transfer may go on.
  mutating func collectBody(_ piece: Span<UInt8>) -> Bool {
    guard piece.count <= limits.responseBytes - body.count else {
      isTooLarge = true
      return false
    }
    body.reserveWiping(piece.count)
    // The span is not kept; an array copies faster from a buffer than byte by byte.
    unsafe piece.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
    return true
  }

  /// The response, once it is complete; the collector is empty afterwards.
  ///
  /// - Throws: `HTTPFailure.malformedResponse` when the status is none that ends an exchange.
  mutating func finish(status: Int) throws(HTTPFailure) -> HTTPResponse {
    guard (200...599).contains(status) else { throw .malformedResponse }
    if var unpacked = Gzip.unpacked(body, limit: limits.responseBytes) {
      swap(&body, &unpacked)
      wipe(&unpacked)
    }
    return HTTPResponse(status: status, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &body))
  }

  /// Wipes what was collected of a response that failed.
  mutating func wipeAll() {
    wipe(&body)
    wipe(&lines)
  }

  private static func isStatusLine(_ line: Span<UInt8>) -> Bool {
    let mark = "HTTP/".utf8.span
    return line.count >= mark.count && mark.indices.allSatisfy { line[$0] == mark[$0] }
  }
}
