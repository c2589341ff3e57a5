public import JSON

/// Verifies the integrity of the vault.
///
/// - Throws: accessDenied, vaultLocked, vaultTampered, storeFailed.
public enum CheckVault: BrokerMethod {
  public static let name = "checkVault"

  public struct Params: MethodParams, Equatable {
    /// Whether every page and every encrypted value is verified too.
    public var isFull: Bool

    public init(isFull: Bool = false) {
      self.isFull = isFull
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.defaulted("full", &isFull)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// Whether no finding is an error.
    public var isOK: Bool
    /// The findings for a person.
    public var findings: [VaultFinding]

    /// The result of a check that found so much.
    public init(findings: [VaultFinding]) {
      isOK = !findings.contains { $0.isError }
      self.findings = findings
    }

    public static let blank = Result(findings: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("ok", &isOK)
      try coder.required("findings", &findings)
    }
  }
}
