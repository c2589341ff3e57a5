/// The framing of a message's body (RFC 9112, section 6).
package enum BodyFraming: Equatable, Sendable {
  /// After so many bytes.
  case length(Int)
  /// With its last chunk (section 7.1).
  case chunked
}

/// Finds the data of a body, and its end, in bytes as they come (RFC 9112, sections 6 and 7).
package struct BodyReader: Sendable {
  /// The next part of a body.
  package enum Event: Equatable, Sendable {
    /// These of the bytes are data.
    case data(Range<Int>)
    /// The body is complete.
    case end
    /// It breaks the coding, or has a longer line than is allowed.
    case malformed
  }

  private enum State: Sendable {
    case size(Int, digits: Int)
    case sizeExtension(Int)
    case sizeFeed(Int)
    case data(Int)
    case dataReturn, dataFeed
    case trailer(TrailerPart)
    case trailerFeed(isEmpty: Bool)
    case end, broken
  }

  /// The part of a trailer's line, which is a field (RFC 9112, section 7.1.2).
  private enum TrailerPart: Sendable { case start, name, value }

  /// 60 bits, which an `Int` has.
  private static let mostDigits = 15

  private let isChunked: Bool
  private let longestLine: Int
  private var lineCount = 0
  private var state: State

  /// A reader at the beginning of a body.
  ///
  /// - Parameters:
  ///   - framing: how it ends.
  ///   - longestLine: how many bytes a chunk's own line may have, and all trailers together; both are passed over.
  package init(_ framing: BodyFraming, longestLine: Int) {
    self.longestLine = longestLine
    switch framing {
    case .length(let count): (isChunked, state) = (false, .data(count))
    case .chunked: (isChunked, state) = (true, .size(0, digits: 0))
    }
  }

  /// Reads on.
  ///
  /// - Parameters:
  ///   - bytes: what has come.
  ///   - position: where the next byte is; it moves on behind what was read.
  /// - Returns: what comes next; nil where more bytes are needed.
  package mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Event? {
    while true {
      switch state {
      case .end: return .end
      case .broken: return .malformed
      case .data(0): state = isChunked ? .dataReturn : .end
      case _ where position >= bytes.count: return nil
      case .data(let left):
        let piece = position..<(position + min(left, bytes.count - position))
        state = .data(left - piece.count)
        position = piece.upperBound
        return .data(piece)
      default:
        lineCount += 1
        state = lineCount <= longestLine ? Self.after(state, bytes[position]) : .broken
        if case .data = state { lineCount = 0 }
        position += 1
      }
    }
  }

  private static func after(_ state: State, _ byte: UInt8) -> State {
    let (isReturn, isFeed) = (byte == UInt8(ascii: "\r"), byte == UInt8(ascii: "\n"))
    switch state {
    case .size(let size, let digits):
      if let digit = hexadecimal(byte), digits < mostDigits { return .size(size << 4 | digit, digits: digits + 1) }
      guard digits > 0 else { return .broken }
      return isReturn ? .sizeFeed(size) : byte == UInt8(ascii: ";") ? .sizeExtension(size) : .broken
    case .sizeExtension(let size): return isReturn ? .sizeFeed(size) : HTTPToken.isText(byte) ? state : .broken
    case .sizeFeed(0) where isFeed: return .trailer(.start)
    case .sizeFeed(let size) where isFeed: return .data(size)
    case .dataReturn where isReturn: return .dataFeed
    case .dataFeed where isFeed: return .size(0, digits: 0)
    case .trailer(.start) where isReturn: return .trailerFeed(isEmpty: true)
    case .trailer(.start) where HTTPToken.isToken(byte), .trailer(.name) where HTTPToken.isToken(byte):
      return .trailer(.name)
    case .trailer(.name) where byte == UInt8(ascii: ":"): return .trailer(.value)
    case .trailer(.value) where isReturn: return .trailerFeed(isEmpty: false)
    case .trailer(.value) where HTTPToken.isText(byte): return state
    case .trailerFeed(true) where isFeed: return .end
    case .trailerFeed(false) where isFeed: return .trailer(.start)
    default: return .broken
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> Int? {
    switch HTTPToken.lowercase(byte) {
    case 0x30...0x39: Int(byte - 0x30)
    case let letter where (0x61...0x66).contains(letter): Int(letter - 0x61 + 10)
    default: nil
    }
  }
}
