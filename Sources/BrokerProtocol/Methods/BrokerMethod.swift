public import JSONRPC

/// One method of the contract: its name, what it takes and what it gives.
public protocol BrokerMethod: Sendable {
  /// What a request carries.
  associatedtype Params: MethodParams
  /// What the answer carries.
  associatedtype Result: JSONEncodable & JSONDecodable & Sendable

  /// The name on the wire.
  static var name: String { get }
}

/// What a request carries: an object of named parameters.
public protocol MethodParams: JSONEncodable, JSONDecodable, Sendable {
  /// The names of all parameters; others are ignored.
  static var memberNames: [String] { get }
}

/// Params or a result without members.
public struct Empty: MethodParams, Equatable {
  /// There are none.
  public static let memberNames: [String] = []

  /// The one value.
  public init() {}

  /// Writes `{}`.
  public func encode(to writer: inout JSONWriter) { writer.object { _ in } }

  /// Reads anything: unknown members are ignored.
  public init(from node: JSONNode) throws(JSONMismatch) {}
}

/// Params that name nothing but a profile.
public struct ProfileParams: MethodParams, Equatable {
  /// The one parameter.
  public static let memberNames = ["profile"]

  /// The profile; nil means the only configured one, else `default`.
  public var profile: ProfileName?

  /// Params for a profile.
  public init(profile: ProfileName? = nil) { self.profile = profile }

  /// Writes the profile where one is named.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in writer.member(ifPresent: "profile", profile) }
  }

  /// Reads the profile where one is named.
  public init(from node: JSONNode) throws(JSONMismatch) {
    profile = try node.optional("profile", ProfileName.init(from:))
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
