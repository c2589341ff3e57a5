/// The structure of one JSON text, as a flat list of entries in document order.
///
/// Scanning fills the same two arrays again and again, so that a message in the steady state costs no allocation. The
/// entries hold offsets into the text, never copies of it: wiping the text wipes the secrets in it.
public struct JSONTape: Sendable {
  /// What kind of value an entry stands for.
  public enum Kind: UInt8, Sendable {
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
  public struct Entry: Sendable {
    /// What the value is.
    public let kind: Kind
    /// Where its text begins; for strings, behind the opening quote.
    public let start: UInt32
    /// Where its text ends; for strings, at the closing quote.
    public fileprivate(set) var end: UInt32
    /// The index of the entry behind this value and all its children.
    public fileprivate(set) var next: UInt32

    /// The bytes of the text that this entry covers.
    public var range: Range<Int> { Int(start)..<Int(end) }

    /// The bytes of the whole value: of a string with its quotes.
    public var fullRange: Range<Int> {
      switch kind {
      case .string, .escapedString: Int(start) - 1..<Int(end) + 1
      default: range
      }
    }
  }

  /// All entries of the last text that was scanned; the first is the root.
  public internal(set) var entries: [Entry] = []

  /// A container that is open at the scanner's position.
  struct OpenContainer: Sendable {
    /// Its index among the entries.
    let index: UInt32
    /// How many members or elements it may still get.
    var room: Int
  }

  /// The containers that are open at the scanner's position.
  var open: [OpenContainer] = []

  /// What the text at hand must keep to.
  var limits = JSONLimits.standard

  /// A tape with room for the messages that usually come.
  public init() {
    entries.reserveCapacity(64)
    open.reserveCapacity(16)
  }

  /// The entries of one value and its children, with offsets into its own text.
  func entries(ofValueAt index: Int) -> [Entry] {
    let (origin, first) = (entries[index].start, UInt32(index))
    return entries[index..<Int(entries[index].next)].map { entry in
      Entry(kind: entry.kind, start: entry.start - origin, end: entry.end - origin, next: entry.next - first)
    }
  }

  /// Appends a value that has no children.
  mutating func appendLeaf(_ kind: Kind, _ start: Int, _ end: Int) {
    entries.append(
      Entry(kind: kind, start: UInt32(start), end: UInt32(end), next: UInt32(entries.count + 1)))
  }

  /// Opens a container that begins at `start`.
  mutating func appendContainer(_ kind: Kind, _ start: Int) {
    let room = kind == .object ? limits.members : limits.elements
    open.append(OpenContainer(index: UInt32(entries.count), room: room))
    entries.append(Entry(kind: kind, start: UInt32(start), end: UInt32(start), next: 0))
  }

  /// Closes the innermost container, whose text ends at `end`, and returns its index.
  mutating func closeContainer(_ end: Int) -> Int {
    let index = Int(open.removeLast().index)
    entries[index].end = UInt32(end)
    entries[index].next = UInt32(entries.count)
    return index
  }
}
