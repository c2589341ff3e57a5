public import JSON
public import SecretMemory

/// Re-encrypts the vault under new keys, from the same key source or another one.
public enum Rekey: BrokerMethod {
  public static let name = "rekey"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The new key source; nil means the configured one.
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
      try coder.optional("keySource", &keySource)
      try coder.optional("passphrase", &passphrase, .secret)
      try coder.optional("newPassphrase", &newPassphrase, .secret)
    }
  }
}

extension Rekey.Params {
  public static let notes = SchemaNotes(members: [
    "keySource": "The new key source; the configured one where absent.",
    "passphrase": "The current passphrase, where there is one.",
    "newPassphrase": "The new passphrase; the current one where absent.",
  ])
}

extension Rekey {
  public static var document: MethodDocument {
    MethodDocument(
      "Re-encrypts the vault under new keys, from the same key source or another one.",
      details:
        """
        Atomic; sessions continue meanwhile. A wrong passphrase counts as one that is given to unlock.
        """,
      errors: ErrorKind.ofKey + [.accessDenied],
      examples: [
        .empty("new keys from the same source"),
        .empty(
          "another passphrase",
          [
            "keySource": #""passphrase""#,
            "passphrase": #""example passphrase""#,
            "newPassphrase": #""another example passphrase""#,
          ]),
      ])
  }
}
