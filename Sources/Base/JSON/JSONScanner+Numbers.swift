/// Numbers: the grammar of RFC 8259, section 6, and the range that 64 bits can hold.
extension JSONScanner {
  /// Scans a number that begins at `position`.
  mutating func number(_ text: Span<UInt8>, _ entries: inout MutableSpan<JSONTape.Entry>) throws(JSONError) {
    let start = position
    let isNegative = text[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let digits = position
    var magnitude: UInt64 = 0
    var overflows = false
    while let digit = Self.digit(text, position) {
      let (product, high) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      magnitude = sum
      overflows = overflows || high || carry
      position += 1
    }
    guard position > digits else { throw Self.noDigit(text, position, start) }
    guard position == digits + 1 || text[digits] != UInt8(ascii: "0") else {
      throw JSONError(.invalidNumber, at: start)
    }
    let hasFraction = try Self.fraction(text, &position, start)
    let hasExponent = try Self.exponent(text, &position, start)
    guard position - start <= limits.numberBytes else { throw JSONError(.numberTooLong, at: start) }
    if hasFraction || hasExponent {
      guard limits.toleratesLargeNumbers || Self.double(text, start..<position) != nil else {
        throw JSONError(.numberOutOfRange, at: start)
      }
      append(.number, start, position, &entries)
    } else {
      let fits = !overflows && magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0)
      guard fits || limits.toleratesLargeNumbers else { throw JSONError(.numberOutOfRange, at: start) }
      append(fits ? .integer : .number, start, position, &entries)
    }
  }

  private static func digit(_ text: Span<UInt8>, _ position: Int) -> UInt8? {
    guard position < text.count, text[position] >= UInt8(ascii: "0"), text[position] <= UInt8(ascii: "9") else {
      return nil
    }
    return text[position] - UInt8(ascii: "0")
  }

  private static func fraction(_ text: Span<UInt8>, _ position: inout Int, _ start: Int) throws(JSONError) -> Bool {
    guard position < text.count, text[position] == UInt8(ascii: ".") else { return false }
    position += 1
    try requireDigits(text, &position, start)
    return true
  }

  private static func exponent(_ text: Span<UInt8>, _ position: inout Int, _ start: Int) throws(JSONError) -> Bool {
    guard position < text.count, text[position] | 0x20 == UInt8(ascii: "e") else { return false }
    position += 1
    if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
      position += 1
    }
    try requireDigits(text, &position, start)
    return true
  }

  private static func requireDigits(_ text: Span<UInt8>, _ position: inout Int, _ start: Int) throws(JSONError) {
    guard digit(text, position) != nil else { throw noDigit(text, position, start) }
    while digit(text, position) != nil { position += 1 }
  }

  /// A number that goes on wrongly is malformed; one that does not go on has ended too early.
  private static func noDigit(_ text: Span<UInt8>, _ position: Int, _ start: Int) -> JSONError {
    position < text.count ? JSONError(.invalidNumber, at: start) : JSONError(.unexpectedEnd, at: position)
  }

  /// The value of a number's text as a binary64; nil where it is not finite.
  static func double(_ text: Span<UInt8>, _ range: Range<Int>) -> Double? {
    guard let value = Double(String(copying: text.extracting(range))), value.isFinite else { return nil }
    return value
  }
}
