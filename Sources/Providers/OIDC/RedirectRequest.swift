import SecretMemory
import TextCoding

/// What a browser asks of the loopback address, read from bytes as they come (RFC 9112, sections 3 and 5).
///
/// Only the head is read; a body means nothing here. The bytes hold the login's code, so they are wiped
/// when the reader is dropped.
struct RedirectRequest {
  /// The longest head: browsers send a few KiB, however long the provider's code is.
  static let longestHead = 16 * 1024

  /// How far the reading has come.
  enum Progress: Equatable {
    /// The head is not complete.
    case incomplete
    /// It is.
    case complete
    /// It is none, or too long; the status to answer with (RFC 9110, section 15.5).
    case refused(status: Int)
  }

  /// The request's method.
  private(set) var method = ""
  /// The one `Host`; empty where there is none, or more than one.
  private(set) var host = ""
  /// The path, as it was sent.
  private(set) var path = ""
  /// The query's bytes in the buffer.
  private var query = 0..<0
  private var bytes: [UInt8] = []

  /// A request of which nothing is known.
  init() {
    // Its full size at once: a buffer that grows leaves copies behind.
    bytes.reserveCapacity(Self.longestHead)
  }

  /// Takes in what has come.
  mutating func read(_ more: ArraySlice<UInt8>) -> Progress {
    guard bytes.count + more.count <= Self.longestHead else { return .refused(status: 431) }
    let start = max(bytes.count - 3, 0)
    bytes += more
    guard let end = Self.endOfHead(bytes, from: start) else { return .incomplete }
    return parse(end) ? .complete : .refused(status: 400)
  }

  /// The values of the query; nil where it is malformed, or names something twice (RFC 6749, section 3.1).
  ///
  /// Each is the caller's to wipe.
  func values() -> [String: [UInt8]]? {
    var values: [String: [UInt8]] = [:]
    for pair in bytes[query].split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      guard let name = PercentEncoding.decoded(pair[..<equals], as: .form),
        let value = PercentEncoding.decoded(pair[equals...].dropFirst(), as: .form)
      else { return nil }
      let text = String(decoding: name, as: UTF8.self)
      guard values.updateValue(value, forKey: text) == nil else { return nil }
    }
    return values
  }

  /// Forgets what was read.
  mutating func wipe() { SecretMemory.wipe(&bytes) }

  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard bytes.count >= mark.count else { return nil }
    return (start...(bytes.count - mark.count)).first { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }
  }

  private mutating func parse(_ end: Int) -> Bool {
    // What no request has, whatever it says.
    guard bytes[..<end].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 }) else {
      return false
    }
    let lineEnd = bytes[..<end].firstIndex(of: 0x0D) ?? end
    let words = bytes[..<lineEnd].split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8),
      words[1].first == UInt8(ascii: "/")
    else { return false }
    method = String(decoding: words[0], as: UTF8.self)
    let mark = words[1].firstIndex(of: UInt8(ascii: "?")) ?? words[1].endIndex
    path = String(decoding: words[1][..<mark], as: UTF8.self)
    query = min(mark + 1, words[1].endIndex)..<words[1].endIndex
    return readHost(lineEnd..<end)
  }

  /// Finds the one `Host`; false for a line that is no field.
  private mutating func readHost(_ fields: Range<Int>) -> Bool {
    var hosts: [String] = []
    for line in bytes[fields].split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return false }
      let name = line[..<colon].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      guard name.elementsEqual("host".utf8) else { continue }
      let blank: Set<UInt8> = [0x20, 0x09]
      let value = line[(colon + 1)...].drop { blank.contains($0) }
      hosts.append(String(decoding: value, as: UTF8.self).lowercased())
    }
    host = hosts.count == 1 ? hosts[0] : ""
    return true
  }
}
