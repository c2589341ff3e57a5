public import JSONRPC

/// One thing that was looked at on a provider, and how it is.
public struct ProviderFinding: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// How bad it is.
  public enum Level: String, Sendable, CaseIterable {
    /// As it should be.
    case ok
    /// Worth knowing; nothing has to be done.
    case note
    /// It works, but for something that a user would miss, or that is weaker than it should be.
    case warning
    /// It does not work.
    case failure
    /// It could not be looked at, and the message says why.
    case skipped
  }

  /// What was looked at, as a stable name of words joined by dots, such as `issuer` or `endpoint.revocation`.
  public var check: String
  /// How it is.
  public var level: Level
  /// One sentence: what was found.
  public var message: String
  /// One sentence: what to do about it.
  public var advice: String?
  /// The kind of error that a client of the broker would see.
  public var errorKind: ErrorKind?

  /// A finding.
  public init(
    _ check: String, _ level: Level, _ message: String, advice: String? = nil, errorKind: ErrorKind? = nil
  ) {
    self.check = check
    self.level = level
    self.message = message
    self.advice = advice
    self.errorKind = errorKind
  }

  /// Writes the members that are known.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("check", check)
      writer.member("level", level.rawValue)
      writer.member("message", message)
      writer.member(ifPresent: "advice", advice)
      writer.member(ifPresent: "errorKind", errorKind?.rawValue)
    }
  }

  /// Reads the members; a level that is not known yet is one more warning, a kind of error is passed over.
  public init(from node: JSONNode) throws(JSONMismatch) {
    check = try node.required("check").string()
    level = Level(rawValue: try node.required("level").string()) ?? .warning
    message = try node.required("message").string()
    advice = try node.optional("advice", String.init(from:))
    errorKind = try node.optional("errorKind", String.init(from:)).flatMap(ErrorKind.init(rawValue:))
  }
}
