/// Forgets the vault's keys and every token until ``Unlock``.
public enum Lock: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "lock"
}

extension Lock {
  public static var document: MethodDocument {
    MethodDocument(
      "Forgets the vault's keys and every token until unlock.",
      details:
        """
        For clients both are gone at once. What was under way is finished and saved before the keys go; where it \
        cannot be saved, the answer is storeFailed, and the keys go as soon as it is.
        """,
      errors: [.accessDenied, .storeFailed],
      examples: [
        .empty("the vault is locked")
      ])
  }
}
