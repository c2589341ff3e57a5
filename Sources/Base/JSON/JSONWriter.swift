/// Writes one compact JSON text, member by member, straight into a byte buffer.
///
/// Commas are its own business; names and values must alternate inside an object, which the closures of
/// ``object(_:)`` and ``member(_:_:)`` see to. The buffer leaves nothing behind where it grows: what is written may be
/// a secret.
public struct JSONWriter: Sendable {
  /// The written bytes.
  public var bytes: [UInt8]

  /// Whether the next value or name follows another one in the same container.
  private var needsComma = false

  /// A writer that appends to `buffer`, which may hold anything.
  public init(appendingTo buffer: consuming [UInt8] = []) {
    bytes = buffer
  }

  /// Every byte that is written goes this way, or by the next one.
  private mutating func put(_ byte: UInt8) {
    bytes.makeRoom(for: 1)
    bytes.append(byte)
  }

  /// Appends bytes as they are.
  mutating func put(_ more: Span<UInt8>) {
    bytes.makeRoom(for: more.count)
    bytes.append(copying: more)
  }

  private mutating func separate() {
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func container(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
    separate()
    put(open)
    needsComma = false
    body(&self)
    put(close)
    needsComma = true
  }

  /// Writes an object whose members `body` writes.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  /// Writes an array whose elements `body` writes.
  public mutating func array(_ body: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  /// Writes a member's name; its value must be written next.
  public mutating func key(_ name: String) {
    string(name)
    put(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a member.
  public mutating func member(_ name: String, _ value: some JSONEncodable) {
    key(name)
    value.encode(to: &self)
  }

  /// Writes a member unless there is no value for it.
  public mutating func member(ifPresent name: String, _ value: (some JSONEncodable)?) {
    guard let value else { return }
    member(name, value)
  }

  /// Writes a string.
  public mutating func string(_ value: String) {
    string(utf8: value.utf8.span)
  }

  /// Writes a string from bytes that must be UTF-8.
  public mutating func string(utf8 value: Span<UInt8>) {
    separate()
    bytes.makeRoom(for: value.count + 2)
    bytes.append(UInt8(ascii: "\""))
    // Mostly there is nothing to escape, and the whole is one piece.
    var start = 0
    for position in value.indices where Self.mustBeEscaped(value[position]) {
      put(value.extracting(start..<position))
      escape(value[position])
      start = position + 1
    }
    put(value.extracting(start...))
    put(UInt8(ascii: "\""))
  }

  @inline(__always)
  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    default: escape(UInt16(byte))
    }
  }

  /// Writes a UTF-16 code unit as an escape.
  mutating func escape(_ unit: UInt16) {
    append("\\u")
    for shift in [12, 8, 4, 0] as [UInt16] { put(Self.hexadecimal(UInt8(unit >> shift & 0xF))) }
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  private mutating func append(_ text: String) {
    put(text.utf8.span)
  }

  /// Writes a whole number.
  public mutating func integer(_ value: Int64) {
    separate()
    append(String(value))
  }

  /// Writes a number; `null` for one that is not finite, which JSON cannot express.
  public mutating func number(_ value: Double) {
    guard value.isFinite else { return null() }
    if value == value.rounded(), let whole = Int64(exactly: value) { return integer(whole) }
    separate()
    append(String(value))
  }

  /// Writes `true` or `false`.
  public mutating func bool(_ value: Bool) {
    separate()
    append(value ? "true" : "false")
  }

  /// Writes `null`.
  public mutating func null() {
    separate()
    append("null")
  }

  /// Writes a value that is JSON already.
  public mutating func raw(_ json: Span<UInt8>) {
    separate()
    put(json)
  }

  /// Writes a value that is JSON already.
  public mutating func raw(_ json: some Collection<UInt8>) {
    separate()
    bytes.makeRoom(for: json.count)
    bytes.append(contentsOf: json)
  }

  /// Writes a value that is JSON already, without the white space between its parts.
  public mutating func raw(compacting json: some Collection<UInt8>) {
    separate()
    bytes.makeRoom(for: json.count)
    var isInString = false
    var isEscaped = false
    for byte in json {
      if isInString || !JSONTape.isBlank(byte) { bytes.append(byte) }
      if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
  }
}
