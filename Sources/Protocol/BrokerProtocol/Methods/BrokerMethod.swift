public import JSON

/// One method of the contract: its name, what it takes and what it gives.
public protocol BrokerMethod: Sendable {
  /// The parameters of a request.
  associatedtype Params: MethodParams
  /// The result of an answer.
  associatedtype Result: JSONEncodable & JSONDecodable & Sendable

  /// The name on the wire.
  static var name: String { get }

  /// Whether a request may hold a secret, if only by mistake: then no log names a parameter that is not known, since that
  /// may be the secret.
  static var mayCarrySecret: Bool { get }
}

extension BrokerMethod {
  /// The parameters whose value is a secret.
  public static var secretParameterNames: [String] { Params.members.secretNames }

  /// Whether a parameter is a secret; a method for which that is not enough says so itself.
  public static var mayCarrySecret: Bool { !secretParameterNames.isEmpty }
}

/// The parameters of a request: an object of named parameters; others are ignored.
public protocol MethodParams: ObjectCodable {}

/// Params or a result without members.
public struct Empty: MethodParams, Equatable {
  public static let blank = Empty()

  public init() {}

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {}
}

/// Params that name nothing but a profile.
public struct ProfileParams: MethodParams, Equatable {
  /// The profile; nil means the only configured one, else `default`.
  public var profile: ProfileName?

  public init(profile: ProfileName? = nil) { self.profile = profile }

  public static let blank = ProfileParams()

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.optional("profile", &profile)
  }
}

/// A text that is JSON already and passes through unread.
public struct RawJSON: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The text.
  public var text: [UInt8]

  /// Wraps a text that is known to be one JSON value.
  public init(text: [UInt8]) { self.text = text }

  /// Writes the text as it is.
  public func encode(to writer: inout JSONWriter) { writer.raw(text) }

  /// Takes any value.
  public init(from node: JSONNode) throws(JSONMismatch) { text = Array(node.text) }
}
