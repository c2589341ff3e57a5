public import JSON

/// The envelope of a message: its kind, id, method and parameters, found on the tape without a copy.
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
    case invalid(Problem)
  }

  /// Why a message is no request.
  public enum Problem: Sendable, Equatable {
    /// It is no object.
    case noObject
    /// The member `jsonrpc` is absent, or something else than the version.
    case version
    /// The member `method` is absent, or no string.
    case method
    /// The member `id` is of another type than an id may have.
    case id
    /// The member `id` has more bytes than so many.
    case longID(Int)
    /// The member `params` is no object.
    case parameters

    /// The sentence for the client.
    public var sentence: String {
      switch self {
      case .noObject: "A message must be an object."
      case .version: "The member jsonrpc must be \"2.0\"."
      case .method: "The member method must be a string."
      case .id: "The member id must be a string, a number or null."
      case .longID(let limit): "The member id may have at most \(limit) bytes."
      case .parameters: "The member params must be an object."
      }
    }
  }

  /// The kind of message.
  public let kind: Kind

  /// The text of the id as it stands, quotes included; nil where there is none that can be echoed.
  public let id: Range<Int>?

  /// The bytes of the method's name; empty where it is absent, or where the text spells it with escapes.
  public let method: Range<Int>

  /// The tape index of the method's name; 0 where it is absent.
  public let methodIndex: Int

  /// The tape index of the parameters; nil where there are none (absent, `null`, `[]` and `{}` mean the same).
  public let parameters: Int?

  /// Whether the message is invalid because its id is too long.
  public let isIDTooLong: Bool

  /// How many bytes an id may have, quotes included.
  ///
  /// No client needs longer ones, and each is kept while its request runs.
  public static let idByteLimit = 128

  /// Reads the envelope of the value at `index`: the whole text, or one entry of a batch.
  public init(in tape: JSONTape, at index: Int = 0, of text: Span<UInt8>, idByteLimit: Int = Envelope.idByteLimit) {
    var reader = EnvelopeReader(idByteLimit: idByteLimit)
    reader.read(tape, index, text)
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
  var problem: Envelope.Problem?

  init(idByteLimit: Int) {
    self.idByteLimit = idByteLimit
  }

  var kind: Envelope.Kind {
    if let problem { return .invalid(problem) }
    guard hasVersion else { return .invalid(.version) }
    guard hasMethod else { return .invalid(.method) }
    return hasID ? .request : .notification
  }

  @inline(__always)
  mutating func read(_ tape: borrowing JSONTape, _ index: Int, _ text: Span<UInt8>) {
    let message = tape[index]
    guard message.kind == .object else {
      problem = .noObject
      return
    }
    let end = Int(message.next)
    var name = index + 1
    while name < end {
      let value = tape[name + 1]
      member(tape[name], value, name + 1, text)
      name = Int(value.next)
    }
  }

  @inline(__always)
  private mutating func member(
    _ name: JSONTape.Entry, _ value: JSONTape.Entry, _ index: Int, _ text: Span<UInt8>
  ) {
    if text.spells("id", name) {
      readID(value)
    } else if text.spells("jsonrpc", name) {
      hasVersion = text.spells("2.0", value)
    } else if text.spells("method", name) {
      hasMethod = value.kind == .string || value.kind == .escapedString
      if hasMethod { methodIndex = index }
      if value.kind == .string { method = value.range }
    } else if text.spells("params", name) {
      readParameters(value, index)
    }
  }

  private mutating func readID(_ value: JSONTape.Entry) {
    hasID = true
    let range: Range<Int>
    switch value.kind {
    case .string, .escapedString: range = value.range.lowerBound - 1..<value.range.upperBound + 1
    case .integer, .number, .null: range = value.range
    default:
      problem = .id
      return
    }
    guard range.count <= idByteLimit else {
      isIDTooLong = true
      problem = .longID(idByteLimit)
      return
    }
    id = range
  }

  private mutating func readParameters(_ value: JSONTape.Entry, _ index: Int) {
    switch value.kind {
    case .null: break
    case .object, .array: parameters = Int(value.next) > index + 1 ? index : nil
    default: problem = .parameters
    }
  }
}
