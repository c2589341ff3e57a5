import SecretMemory

/// The head of an HTTP/1.1 request, read from bytes as they come (RFC 9112, sections 2 to 6).
///
/// A request has one meaning, or is refused: a line that ends otherwise than in CR LF, a folded field, a blank before a
/// colon, a second `Host` or length, a length beside a transfer coding are each understood differently by different
/// servers (section 11.2). The bytes may hold a credential: they stay in one buffer, which the owner wipes.
package struct RequestHead: Sendable {
  /// How far the reading has come.
  package enum Progress: Equatable, Sendable {
    /// The head is not complete.
    case incomplete
    /// It is complete, with so many of the given bytes; its body follows.
    case complete(count: Int)
    /// It is none, or too long; the status to answer with (RFC 9110, section 15).
    case refused(status: Int)
  }

  /// The bytes of a name and of a value in the buffer.
  private struct Field {
    var name: Range<Int>
    var value: Range<Int>
  }

  /// How many bytes it may have.
  private let longest: Int
  /// How many fields it may have.
  private let mostFields: Int
  private var bytes: [UInt8] = []
  private var lineStart = 0
  private var outcome: Progress?
  private var methodBytes = 0..<0
  private var targetBytes = 0..<0
  private var fields: [Field] = []
  /// Whether it is one of HTTP/1.0, whose client knows neither chunks nor connections that are kept by themselves.
  package private(set) var isOld = false
  private var framing: BodyFraming?

  /// A reader at the beginning of a head.
  ///
  /// - Parameters:
  ///   - longest: how many bytes it may have.
  ///   - mostFields: how many fields it may have.
  package init(longest: Int, mostFields: Int = 100) {
    self.longest = longest
    self.mostFields = mostFields
  }

  /// The method; empty until the first line was read.
  package var method: String { String(decoding: bytes[methodBytes], as: UTF8.self) }

  /// The target as it was sent: visible ASCII (RFC 9112, section 3.2).
  package var target: ArraySlice<UInt8> { bytes[targetBytes] }

  /// The framing of the body.
  package var body: BodyFraming { framing ?? .length(0) }

  /// Looks a field up.
  ///
  /// - Parameter name: the name in lower case.
  /// - Returns: its first value, without the blanks around it.
  package func value(of name: String) -> ArraySlice<UInt8>? {
    fields.first { isNamed($0, name) }.map { bytes[$0.value] }
  }

  /// How many fields have a name, which is in lower case.
  package func count(of name: String) -> Int { fields.count { isNamed($0, name) } }

  /// All fields in their order, names in lower case; bytes that are no text are replaced.
  package var list: [(name: String, value: String)] {
    fields.map { field in
      (
        String(decoding: bytes[field.name].map(HTTPToken.lowercase), as: UTF8.self),
        String(decoding: bytes[field.value], as: UTF8.self)
      )
    }
  }

  /// Reads further bytes; none once the head is complete, or refused.
  package mutating func read(_ more: Span<UInt8>) -> Progress {
    if let outcome {
      guard case .complete = outcome else { return outcome }
      return .complete(count: 0)
    }
    // Its full size at once: a buffer that grows leaves copies behind.
    bytes.reserveCapacity(longest)
    for index in more.indices {
      guard bytes.count < longest else { return end(.refused(status: 431)) }
      bytes.append(more[index])
      guard more[index] == UInt8(ascii: "\n") else { continue }
      guard bytes.count - lineStart >= 2, bytes[bytes.count - 2] == UInt8(ascii: "\r") else {
        return end(.refused(status: 400))
      }
      let line = lineStart..<(bytes.count - 2)
      guard !line.isEmpty || lineStart == 0 else {
        return end(isWhole ? .complete(count: index + 1) : .refused(status: 400))
      }
      if let status = lineStart == 0 ? requestLine(line) : field(line) { return end(.refused(status: status)) }
      lineStart = bytes.count
    }
    return .incomplete
  }

  /// Wipes the read bytes; the memory is kept for the next head.
  package mutating func wipe() {
    SecretMemory.wipe(&bytes)
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    (lineStart, outcome, methodBytes, targetBytes, isOld, framing) = (0, nil, 0..<0, 0..<0, false, nil)
  }

  private mutating func end(_ progress: Progress) -> Progress {
    outcome = progress
    return progress
  }

  /// - Returns: the status to refuse the line with; nil for one that is sound.
  private mutating func requestLine(_ line: Range<Int>) -> Int? {
    let words = bytes[line].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(HTTPToken.isToken), !words[1].isEmpty,
      words[1].allSatisfy({ (0x21...0x7E).contains($0) })
    else { return 400 }
    isOld = words[2].elementsEqual("HTTP/1.0".utf8)
    guard isOld || words[2].elementsEqual("HTTP/1.1".utf8) else { return 400 }
    (methodBytes, targetBytes) = (words[0].indices, words[1].indices)
    return nil
  }

  /// - Returns: the status to refuse the line with; nil for one that is sound.
  private mutating func field(_ line: Range<Int>) -> Int? {
    guard fields.count < mostFields else { return 431 }
    guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")), colon > line.lowerBound,
      bytes[line.lowerBound..<colon].allSatisfy(HTTPToken.isToken)
    else { return 400 }
    var value = (colon + 1)..<line.upperBound
    while let first = value.first, HTTPToken.isBlank(bytes[first]) { value.removeFirst() }
    while let last = value.last, HTTPToken.isBlank(bytes[last]) { value.removeLast() }
    guard bytes[value].allSatisfy(HTTPToken.isText) else { return 400 }
    let field = Field(name: line.lowerBound..<colon, value: value)
    defer { fields.append(field) }
    if isNamed(field, "host") { return self.value(of: "host") == nil ? nil : 400 }
    if isNamed(field, "content-length") { return setLength(bytes[value]) }
    return isNamed(field, "transfer-encoding") ? setCoding(bytes[value]) : nil
  }

  private mutating func setLength(_ digits: ArraySlice<UInt8>) -> Int? {
    guard framing == nil, (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return 400
    }
    framing = .length(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    return nil
  }

  private mutating func setCoding(_ name: ArraySlice<UInt8>) -> Int? {
    guard framing == nil, !isOld else { return 400 }
    framing = .chunked
    return name.elementsEqual("chunked".utf8, by: { HTTPToken.lowercase($0) == $1 }) ? nil : 501
  }

  /// Whether it names the host that it is for (section 3.2).
  private var isWhole: Bool { isOld || value(of: "host") != nil }

  private func isNamed(_ field: Field, _ name: String) -> Bool {
    bytes[field.name].elementsEqual(name.utf8, by: { HTTPToken.lowercase($0) == $1 })
  }
}
