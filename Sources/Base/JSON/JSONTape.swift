/// The structure of one JSON text, as a flat list of entries in document order.
///
/// Scanning fills the same array again and again, so that a message in the steady state costs no allocation. The
/// entries hold offsets into the text, never copies of it: wiping the text wipes the secrets in it.
public struct JSONTape: Sendable {
  /// The kind of value that an entry stands for.
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// `null`, `true` and `false`.
    case null, `true`, `false`
    /// A number without fraction and exponent, which fits 64 bits.
    case integer
    /// Any other number, which is finite as a binary64 unless the limits tolerate more.
    case number
    /// A string without escapes: its bytes stand in the text as they are.
    case string
    /// A string with at least one escape.
    case escapedString
    /// A container; its children follow it up to `next`. An object's children are name, value, name, value…
    case array, object
  }

  /// One value (or member name) of the text.
  public struct Entry: BitwiseCopyable, Sendable {
    /// The kind of value.
    public let kind: Kind
    /// The beginning of its text; for strings, behind the opening quote.
    public let start: UInt32
    /// The end of its text; for strings, at the closing quote.
    public internal(set) var end: UInt32
    /// The index of the entry behind this value and all its children.
    public internal(set) var next: UInt32

    /// The bytes of the text that this entry covers.
    @inlinable public var range: Range<Int> { Int(start)..<Int(end) }

    /// The bytes of the whole value: of a string with its quotes.
    public var fullRange: Range<Int> {
      switch kind {
      case .string, .escapedString: Int(start) - 1..<Int(end) + 1
      default: range
      }
    }
  }

  /// Room for entries: those of the last text, and behind them what earlier texts left.
  @usableFromInline
  var room: [Entry]

  /// How many entries the last text has.
  public private(set) var count = 0

  /// A tape with room for the messages that usually come.
  public init() {
    room = Array(repeating: Entry(kind: .null, start: 0, end: 0, next: 0), count: 64)
  }

  /// All entries of the last text that was scanned; the first is the root.
  public var entries: ArraySlice<Entry> { room[..<count] }

  /// The entry at an index that was found on the tape.
  @inlinable
  public subscript(index: Int) -> Entry { room[index] }

  /// Scans one whole text and replaces the tape's contents by its structure.
  ///
  /// - Throws: ``JSONError`` with the first broken rule; the tape has no entries then.
  public mutating func scan(_ text: Span<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
    count = 0
    guard text.count <= limits.byteCount else { throw JSONError(.tooLong, at: limits.byteCount) }
    var scanner = JSONScanner(limits)
    while try !fill(from: text, &scanner) {
      room.append(contentsOf: repeatElement(room[0], count: room.count))
    }
    count = scanner.count
  }

  /// Lets the scanner go on while there is room; false where there is none any more.
  private mutating func fill(from text: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONError) -> Bool {
    var entries = room.mutableSpan
    return try scanner.scan(text, into: &entries)
  }

  /// Hands over the entries of the last document, without a copy; the tape cannot be used any more.
  mutating func takeEntries() -> [Entry] {
    var entries: [Entry] = []
    swap(&entries, &room)
    entries.removeLast(entries.count - count)
    count = 0
    return entries
  }

  /// The entries of one value and its children, with offsets into its own text.
  func entries(ofValueAt index: Int) -> [Entry] {
    let (origin, first) = (room[index].start, UInt32(index))
    return room[index..<Int(room[index].next)].map { entry in
      Entry(kind: entry.kind, start: entry.start - origin, end: entry.end - origin, next: entry.next - first)
    }
  }

  /// The string at a tape index, its escapes resolved.
  public func string(at index: Int, in text: Span<UInt8>) -> String {
    String(copying: Self.unescaped(room[index], in: text).span)
  }
}
