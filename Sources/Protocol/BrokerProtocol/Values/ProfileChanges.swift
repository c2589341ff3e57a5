public import JSON

/// The changes of an account: each member by its name, with its new value.
///
/// `name` and `phoneNumber` mean the same everywhere; other members depend on the provider.
public struct ProfileChanges: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// One member and its new value.
  public struct Change: Sendable, Equatable {
    /// The member's name.
    public var name: String
    /// The new value: a string, a number, `true`, `false`, or `null` to remove it.
    public var value: RawJSON

    public init(name: String, value: RawJSON) {
      self.name = name
      self.value = value
    }
  }

  /// More members than any account has; it bounds what a provider is sent.
  private static let countLimit = 32

  /// The changes in the order in which they were given; at least one.
  public var members: [Change]

  public init(_ members: [Change]) { self.members = members }

  /// Writes an object of the changes.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      for change in members { writer.member(change.name, change.value) }
    }
  }

  /// Reads an object whose values have no members of their own.
  public init(from node: JSONNode) throws(JSONMismatch) {
    members = []
    for (name, value) in try node.members() {
      guard value.kind != .object, value.kind != .array, value.text.count <= ParameterLength.change,
        name.utf8.count <= ParameterLength.email
      else {
        // The error does not name the member: what is none may be a secret in the wrong place.
        throw node.mismatch(
          "an object of strings, numbers, true, false and null of at most \(ParameterLength.change) bytes")
      }
      members.append(Change(name: name, value: try RawJSON(from: value)))
    }
    guard !members.isEmpty, members.count <= Self.countLimit else {
      throw node.mismatch("an object of 1 to \(Self.countLimit) changes")
    }
  }
}
