public import JSON

/// Stops the broker that owns the state directory.
public enum StopBroker: BrokerMethod {
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "stopBroker"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// Whether the broker stops although something cannot be saved.
    public var discardsUnsaved: Bool

    public init(discardsUnsaved: Bool = false) {
      self.discardsUnsaved = discardsUnsaved
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.defaulted("discardUnsaved", &discardsUnsaved)
    }
  }
}

extension StopBroker.Params {
  public static let notes = SchemaNotes(members: [
    "discardUnsaved": "Also where the vault cannot be written: what is not saved is lost."
  ])
}

extension StopBroker {
  public static var document: MethodDocument {
    MethodDocument(
      "Stops the broker that owns the state directory.",
      details:
        """
        Where the newest tokens or a logout could not be saved, the answer is storeFailed and the broker goes on, unless \
        discardUnsaved is set.
        """,
      errors: [.accessDenied, .storeFailed],
      examples: [
        .empty("the broker stops")
      ])
  }
}
