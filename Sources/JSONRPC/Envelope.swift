public import JSON

/// What a message claims to be, found on the tape without a copy.
///
/// The offsets are those of the scanned text.
public struct Envelope: Sendable {
  /// The kinds of JSON-RPC 2.0 messages that a server can get.
  public enum Kind: Sendable, Equatable {
    /// Wants an answer with the same id.
    case request
    /// Wants no answer, ever.
    case notification
    /// Is no request; wants an answer with code -32600.
    case invalid(String)
  }

  /// What the message is.
  public let kind: Kind

  /// The text of the id as it stands, quotes included; nil where there is none that can be echoed.
  public let id: Range<Int>?

  /// The bytes of the method's name; empty where it is absent, or where the text spells it with escapes.
  public let method: Range<Int>

  /// The tape index of the method's name; 0 where it is absent.
  public let methodIndex: Int

  /// The tape index of the parameters; nil where there are none (absent, `null`, `[]` and `{}` mean the same).
  public let parameters: Int?

  /// Whether what makes the message invalid is the length of its id.
  public let isIDTooLong: Bool

  /// How many bytes an id may have, quotes included.
  ///
  /// No client needs longer ones, and each is kept while its request runs.
  public static let idByteLimit = 128

  /// Reads the envelope of the value at `index`: the whole text, or one entry of a batch.
  public init(in tape: JSONTape, at index: Int = 0, of text: Span<UInt8>, idByteLimit: Int = Envelope.idByteLimit) {
    var reader = EnvelopeReader(idByteLimit: idByteLimit)
    reader.read(tape.entries, index, text)
    kind = reader.kind
    id = reader.id
    method = reader.method
    methodIndex = reader.methodIndex
    parameters = reader.parameters
    isIDTooLong = reader.isIDTooLong
  }
}

/// Collects the members of a message.
private struct EnvelopeReader {
  let idByteLimit: Int
  var id: Range<Int>?
  var hasID = false
  var isIDTooLong = false
  var method: Range<Int> = 0..<0
  var methodIndex = 0
  var hasMethod = false
  var parameters: Int?
  var hasVersion = false
  var problem: String?

  init(idByteLimit: Int) {
    self.idByteLimit = idByteLimit
  }

  var kind: Envelope.Kind {
    if let problem { return .invalid(problem) }
    guard hasVersion else { return .invalid("The member jsonrpc must be \"2.0\".") }
    guard hasMethod else { return .invalid("The member method must be a string.") }
    return hasID ? .request : .notification
  }

  mutating func read(_ entries: [JSONTape.Entry], _ index: Int, _ text: Span<UInt8>) {
    guard entries[index].kind == .object else {
      problem = "A message must be an object."
      return
    }
    let end = Int(entries[index].next)
    var name = index + 1
    while name < end {
      member(entries, name, text)
      name = Int(entries[name + 1].next)
    }
  }

  private mutating func member(_ entries: [JSONTape.Entry], _ name: Int, _ text: Span<UInt8>) {
    let value = entries[name + 1]
    if text.spells("jsonrpc", entries[name]) {
      hasVersion = text.spells("2.0", value)
    } else if text.spells("id", entries[name]) {
      readID(value)
    } else if text.spells("method", entries[name]) {
      hasMethod = value.kind == .string || value.kind == .escapedString
      if hasMethod { methodIndex = name + 1 }
      if value.kind == .string { method = value.range }
    } else if text.spells("params", entries[name]) {
      readParameters(value, name + 1)
    }
  }

  private mutating func readID(_ value: JSONTape.Entry) {
    hasID = true
    let range: Range<Int>
    switch value.kind {
    case .string, .escapedString: range = value.range.lowerBound - 1..<value.range.upperBound + 1
    case .integer, .number, .null: range = value.range
    default:
      problem = "The member id must be a string, a number or null."
      return
    }
    guard range.count <= idByteLimit else {
      isIDTooLong = true
      problem = "The member id may have at most \(idByteLimit) bytes."
      return
    }
    id = range
  }

  private mutating func readParameters(_ value: JSONTape.Entry, _ index: Int) {
    switch value.kind {
    case .null: break
    case .object, .array: parameters = Int(value.next) > index + 1 ? index : nil
    default: problem = "The member params must be an object."
    }
  }
}
