public import JSON

/// Something about the vault that a person should know.
public struct VaultFinding: ObjectCodable, Equatable {
  /// The kind of finding, as a stable name.
  public enum Kind: String, Sendable, CaseIterable {
    /// The database contradicts itself.
    case databaseDamaged
    /// A sealed value has been modified.
    case tampered
    /// The whole vault is older than it should be.
    case rolledBack
    /// A rollback of the whole vault would not be noticed: there is no second directory for its anchor.
    case rollbackUnnoticed
    /// The clock is behind the vault's last change.
    case clockSetBack
    /// The vault opens by another source than the configuration names.
    case keySourceDiffers
    /// The memory of secrets could not be locked.
    case memoryUnlocked
    /// The audit is not what the broker wrote.
    case auditTampered
    /// The audit says that entries are missing.
    case auditGap
  }

  /// The kind of finding; more may be added.
  public var kind: String
  /// Whether something is wrong now, not only weaker than it could be.
  public var isError: Bool
  /// One sentence, and what to do.
  public var message: String
  /// The profile that it is about.
  public var profile: ProfileName?

  /// A finding.
  public init(_ kind: Kind, isError: Bool, _ message: String, profile: ProfileName? = nil) {
    self.kind = kind.rawValue
    self.isError = isError
    self.message = message
    self.profile = profile
  }

  /// error: something is wrong now; warning: something is weaker than it could be.
  private var severity: String {
    get { isError ? "error" : "warning" }
    set { isError = newValue == "error" }
  }

  public static let blank = VaultFinding(.databaseDamaged, isError: false, "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind, .word(of: Kind.allCases.map { $0.rawValue }))
    try coder.required("severity", &severity, .word(of: ["error", "warning"]))
    try coder.required("message", &message)
    try coder.optional("profile", &profile)
  }
}
