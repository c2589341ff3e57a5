import HTTPMessage

/// A server's response, whatever its status.
package struct HTTPResponse: Sendable {
  /// The longest wait that a server can ask for: one hour.
  ///
  /// A longer one is a mistake, or ill will.
  package static let longestRetryAfter = Duration.seconds(3600)

  /// The status (RFC 9110, section 15): 200 to 599.
  package let status: Int
  /// The body, often a secret.
  package internal(set) var body: WipedBytes
  // The lines of the header, without the status line, each ended by a line feed.
  private let lines: WipedBytes

  /// A response as it was collected.
  init(status: Int, lines: WipedBytes, body: WipedBytes) {
    self.status = status
    self.lines = lines
    self.body = body
  }

  /// A field's value, trimmed.
  ///
  /// - Parameter name: in lower case.
  /// - Returns: the first field of that name; `nil` where there is none, or its value is not text without control
  ///   characters.
  package func field(_ name: String) -> String? {
    lines.withArray { Self.values(of: name, in: $0).first ?? nil }
  }

  /// The values of all fields of a name, trimmed.
  ///
  /// - Parameter name: in lower case.
  /// - Returns: the values in their order, without those that are not text.
  package func fields(_ name: String) -> [String] {
    lines.withArray { Self.values(of: name, in: $0).compactMap { $0 } }
  }

  /// The fields that are text, in their order: names in lower case, values trimmed; those of one name are joined by commas
  /// (RFC 9110, section 5.3).
  package var fields: [(name: String, value: String)] {
    var (names, values): ([String], [String: [String]]) = ([], [:])
    forEachField { name, value in
      if values[name] == nil { names.append(name) }
      values[name, default: []].append(String(decoding: value, as: UTF8.self))
    }
    return names.map { name in (name, values[name]?.joined(separator: ", ") ?? "") }
  }

  /// Lends each field that is text, in their order: its name in lower case and its value, trimmed, as UTF-8.
  package func forEachField(_ body: (String, ArraySlice<UInt8>) -> Void) {
    lines.withArray { lines in
      Self.forEachLine(of: lines) { line, colon in
        guard let name = String(validating: lines[line.lowerBound..<colon].map(HTTPToken.lowercase), as: UTF8.self),
          let value = Self.value(in: lines, (colon + 1)..<line.upperBound)
        else { return }
        body(name, value)
      }
    }
  }

  /// Lends the lines of the header.
  func lines<R>(_ body: ([UInt8]) -> R) -> R { lines.withArray(body) }

  private static func values(of name: String, in lines: [UInt8]) -> [String?] {
    var values: [String?] = []
    forEachLine(of: lines) { line, colon in
      let isMeant = lines[line.lowerBound..<colon].elementsEqual(name.utf8, by: { HTTPToken.lowercase($0) == $1 })
      guard isMeant else { return }
      values.append(value(in: lines, (colon + 1)..<line.upperBound).map { String(decoding: $0, as: UTF8.self) })
    }
    return values
  }

  /// Calls `body` with the place of each line that has a colon, and that of the colon.
  private static func forEachLine(of lines: [UInt8], _ body: (Range<Int>, Int) -> Void) {
    var (start, colon): (Int, Int?) = (0, nil)
    for index in 0...lines.count {
      guard index < lines.count, lines[index] != UInt8(ascii: "\n") else {
        if let colon { body(start..<index, colon) }
        (start, colon) = (index + 1, nil)
        continue
      }
      if colon == nil, lines[index] == UInt8(ascii: ":") { colon = index }
    }
  }

  /// The value at a place, trimmed; nil where it is not text without control characters.
  private static func value(in lines: [UInt8], _ place: Range<Int>) -> ArraySlice<UInt8>? {
    let blank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var value = lines[place].drop(while: blank)
    while let last = value.last, blank(last) { value.removeLast() }
    guard !value.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
    let isText = value.allSatisfy { $0 < 0x80 } || String(validating: value, as: UTF8.self) != nil
    return isText ? value : nil
  }

  /// The media type of the body.
  package var mediaType: MediaType? { field("content-type").flatMap { MediaType($0) } }

  /// The server's clock when it answered (RFC 9110, section 6.6.1).
  ///
  /// - Parameter now: this machine's, in seconds since 1970.
  /// - Returns: `nil` where the server does not say.
  package func date(now: Int64) -> HTTPDate? { field("date").flatMap { HTTPDate($0, now: now) } }

  /// How long the server wants to be left alone (RFC 9110, section 10.2.3); for a 429 without that, until the end of
  /// its window, by the fields that are usual for that.
  ///
  /// A moment is counted from the server's own clock, where the reply has it: this machine's may be wrong.
  package func retryAfter(now: Int64) -> Duration? {
    guard let value = field("retry-after") else { return status == 429 ? windowRest(now: now) : nil }
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // More digits than fit are a very long time.
      return min(Int64(value).map { .seconds($0) } ?? Self.longestRetryAfter, Self.longestRetryAfter)
    }
    guard let end = HTTPDate(value, now: now) else { return nil }
    let start = date(now: now)?.secondsSince1970 ?? now
    return min(max(.seconds(end.secondsSince1970 - start), .zero), Self.longestRetryAfter)
  }

  /// The rest of the window in which no more requests are served: seconds, or a moment in seconds or milliseconds since
  /// 1970 (`X-RateLimit-Reset`); `t` of `RateLimit` (draft-ietf-httpapi-ratelimit-headers).
  private func windowRest(now: Int64) -> Duration? {
    let names = ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"]
    // Blanks may stand before a parameter (RFC 9651, section 3.1.2).
    let parameter = field("ratelimit")?.split { $0 == ";" || $0 == "," }
      .map { $0.drop { $0 == " " } }.first { $0.hasPrefix("t=") }?.dropFirst(2)
    guard let text = parameter.map(String.init) ?? names.lazy.compactMap(field).first, let number = Int64(text),
      number >= 0
    else { return nil }
    guard number > Self.firstMoment else { return min(.seconds(number), Self.longestRetryAfter) }
    let end = number > Self.firstMillisecond ? number / 1000 : number
    return min(max(.seconds(end - (date(now: now)?.secondsSince1970 ?? now)), .zero), Self.longestRetryAfter)
  }

  /// Numbers from here on are moments since 1970, in seconds (2001), and in milliseconds.
  private static let firstMoment: Int64 = 1_000_000_000
  private static let firstMillisecond: Int64 = 100_000_000_000
}
