/// A type that stands in a JSON text as an object, and names each of its members once.
public protocol ObjectCodable: JSONEncodable, JSONDecodable, Sendable {
  /// The value that a reader begins with: optional members have their default, the others any value.
  static var blank: Self { get }

  /// Hands every member to a coder, in the order of the wire.
  ///
  /// It refuses nothing itself: what is refused, a coding or the coder refuses.
  ///
  /// - Throws: what the coder throws; only a reader does.
  mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch)
}

extension ObjectCodable {
  @inlinable
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in walk(&writer) }
  }

  @inlinable
  public init(from node: JSONNode) throws(JSONMismatch) {
    self = .blank
    var reader = ObjectReader(node)
    try code(&reader)
  }

  /// The names of the type's members, and which of them hold a secret.
  public static var members: MemberList {
    var members = MemberList()
    blank.walk(&members)
    return members
  }

  /// Walks with a coder that takes every value as it is: a writer, or a collector.
  ///
  /// Such a coder throws nothing, and ``code(_:)`` throws only what its coder does. Saying so by types (an error type of
  /// each coder, named in every `code`) would make the one line that each type repeats longer; no input leads to the trap.
  @inlinable
  public func walk(_ coder: inout some ObjectCoder) {
    var value = self
    do throws(JSONMismatch) { try value.code(&coder) } catch {
      preconditionFailure("only a reader refuses a member")
    }
  }
}
