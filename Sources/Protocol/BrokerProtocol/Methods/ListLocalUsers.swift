public import JSON

/// Lists the accounts of the embedded provider, the newest 1000 at most.
///
/// - Throws: directory.
public enum ListLocalUsers: BrokerMethod {
  public static let name = "listLocalUsers"
  public typealias Params = Empty

  /// How many accounts an answer has at most; a message has room for them.
  public static let largestCount = 1000

  public struct Result: ObjectCodable, Equatable {
    /// The accounts, by their addresses.
    public var users: [LocalUser]

    public init(users: [LocalUser]) { self.users = users }

    public static let blank = Result(users: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("users", &users)
    }
  }
}
