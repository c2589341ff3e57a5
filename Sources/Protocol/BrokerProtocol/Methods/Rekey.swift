public import JSON
public import SecretMemory

/// Re-encrypts the vault under new keys, from the same key source or another one.
///
/// Atomic; sessions continue meanwhile. A wrong passphrase counts as one that is given to unlock.
///
/// - Throws: key, accessDenied.
public enum Rekey: BrokerMethod {
  public static let name = "rekey"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The new key source; the configured one where absent.
    public var keySource: KeySourceName?
    /// The current passphrase, where there is one.
    public var passphrase: Secret?
    /// The new passphrase; nil keeps the current one.
    public var newPassphrase: Secret?

    public init(keySource: KeySourceName? = nil, passphrase: Secret? = nil, newPassphrase: Secret? = nil) {
      self.keySource = keySource
      self.passphrase = passphrase
      self.newPassphrase = newPassphrase
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("keySource", &keySource, .name("file, passphrase, credential or command"))
      try coder.optional("passphrase", &passphrase, .secret)
      try coder.optional("newPassphrase", &newPassphrase, .secret)
    }
  }
}
