public import JSON
public import SecretMemory

/// Unlocks the vault; a new vault takes the first passphrase as its own.
///
/// A missing passphrase is invalidParams at /passphrase with the advice to unlock. The answer to the n-th wrong
/// passphrase in a row is delayed by 0.1 s × 2^(n−1), at most 10 s; attempts are taken one at a time.
///
/// - Throws: key.
public enum Unlock: BrokerMethod {
  public static let name = "unlock"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The passphrase, where the vault's key is derived from one.
    public var passphrase: Secret?

    public init(passphrase: Secret? = nil) {
      self.passphrase = passphrase
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("passphrase", &passphrase, .secret)
    }
  }
}
