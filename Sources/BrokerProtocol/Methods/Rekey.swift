public import JSON
public import SecretMemory

/// Seals the vault anew under new keys, from the same source or another one.
public enum Rekey: BrokerMethod {
  public static let name = "rekey"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// Where the key shall come from; nil means what the configuration says.
    public var keySource: KeySourceName?
    /// The passphrase of now, where there is one.
    public var passphrase: Secret?
    /// The passphrase from now on; nil keeps the one of now.
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
    "keySource": "Where the key shall come from; what the configuration says where absent.",
    "passphrase": "The passphrase of now, where there is one.",
    "newPassphrase": "The passphrase from now on; the one of now where absent.",
  ])
}

extension Rekey {
  public static var document: MethodDocument {
    MethodDocument(
      "Seals the vault anew under new keys, from the same source or another one.",
      details:
        """
        All of it or nothing; sessions go on meanwhile. A wrong passphrase counts as one given to unlock does.
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
