public import JSON

/// Returns the keys that verify access tokens of the embedded provider, as a JSON Web Key Set.
///
/// - Throws: directory.
public enum GetLocalKeySet: BrokerMethod {
  public static let name = "getLocalKeySet"
  public typealias Params = Empty

  /// A JSON Web Key Set (RFC 7517, section 5).
  public struct Result: ObjectCodable, Equatable {
    /// The keys: the one that signs first, then those whose tokens have not all expired.
    public var keys: [JSONWebKey]

    public init(keys: [JSONWebKey]) { self.keys = keys }

    public static let blank = Result(keys: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("keys", &keys)
    }
  }
}
