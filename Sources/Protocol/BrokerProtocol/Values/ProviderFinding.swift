public import JSON

/// One thing that was examined on a provider, and how it is.
public struct ProviderFinding: ObjectCodable, Equatable {
  /// The severity.
  public enum Level: String, Sendable, CaseIterable {
    /// As it should be.
    case ok
    /// Worth knowing; nothing has to be done.
    case note
    /// It works, but for something that a user would miss, or that is weaker than it should be.
    case warning
    /// It does not work.
    case failure
    /// It could not be examined, and the message says why.
    case skipped
  }

  /// The check, as a stable name of words joined by dots, such as issuer or endpoint.revocation; more may be added.
  public var check: String
  /// The severity.
  public var level: Level
  /// One sentence: what was found; a provider's own words are sanitised and bounded.
  public var message: String
  /// One sentence: what to do about it.
  public var advice: String?
  /// The kind of error that a client would see: one of errors.json.
  public var errorKind: ErrorKind?

  public init(
    _ check: String, _ level: Level, _ message: String, advice: String? = nil, errorKind: ErrorKind? = nil
  ) {
    self.check = check
    self.level = level
    self.message = message
    self.advice = advice
    self.errorKind = errorKind
  }

  /// The severity; skipped: it could not be checked, and the message says why.
  private var levelName: String {
    get { level.rawValue }
    set { level = Level(rawValue: newValue) ?? .warning }
  }

  public static let blank = ProviderFinding("", .ok, "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("check", &check)
    try coder.required("level", &levelName, .word(of: Level.allCases.map { $0.rawValue }))
    try coder.required("message", &message)
    try coder.optional("advice", &advice)
    try coder.optional("errorKind", &errorKind.knownName)
  }
}
