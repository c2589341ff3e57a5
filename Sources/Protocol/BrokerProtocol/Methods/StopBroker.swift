public import JSON

/// Stops the broker that owns the state directory.
public enum StopBroker: BrokerMethod {
  /// The name on the wire.
  public static let name = "stopBroker"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// Whether the broker stops although something cannot be saved.
    public var discardsUnsaved: Bool
    /// Whether the broker stops without waiting for anything.
    public var isImmediate: Bool

    public init(discardsUnsaved: Bool = false, isImmediate: Bool = false) {
      self.discardsUnsaved = discardsUnsaved
      self.isImmediate = isImmediate
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.defaulted("discardUnsaved", &discardsUnsaved)
      try coder.defaulted("now", &isImmediate)
    }
  }

  /// What the answer carries.
  public struct Result: ObjectCodable, Equatable {
    /// How many refreshes and logins are under way whose answers come only once; nil for none.
    public var awaited: Int?
    /// How long they are waited for at most.
    public var longestWait: Duration?

    /// The result where so many are awaited, for so long at most.
    public init(awaited: Int = 0, atMost longestWait: Duration = .zero) {
      guard awaited > 0 else { return }
      self.awaited = awaited
      self.longestWait = longestWait
    }

    public static let blank = Result()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("awaited", &awaited)
      try coder.optional("longestWaitSeconds", &longestWait, .seconds)
    }
  }
}

extension StopBroker.Params {
  public static let notes = SchemaNotes(members: [
    "discardUnsaved": "Also where the vault cannot be written: what is not saved is lost.",
    "now": "Waits for nothing: a session whose refresh is under way may be lost.",
  ])
}

extension StopBroker.Result {
  public static let notes = SchemaNotes(members: [
    "awaited": "Refreshes and logins under way that the broker waits for; absent where there is none.",
    "longestWaitSeconds": "How long it waits for them at most.",
  ])
}

extension StopBroker {
  public static var document: MethodDocument {
    MethodDocument(
      "Stops the broker that owns the state directory.",
      details:
        """
        Where the newest tokens or a logout could not be saved, the answer is storeFailed and the broker goes on, unless \
        discardUnsaved is set. Refreshes and logins that a provider has not answered yet are waited for, unless now is set; \
        meanwhile every other request gets shuttingDown.
        """,
      result: "wait",
      errors: [.accessDenied, .storeFailed],
      examples: [
        .init("the broker stops", result: #"{}"#),
        .init("two refreshes are under way", result: #"{"awaited": 2, "longestWaitSeconds": 25}"#),
      ])
  }
}
