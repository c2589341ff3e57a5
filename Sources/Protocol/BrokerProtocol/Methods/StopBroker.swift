public import JSON

/// Stops the broker that owns the state directory.
///
/// Where the newest tokens or a logout could not be saved, the answer is storeFailed and the broker goes on, unless
/// discardUnsaved is set. Refreshes and logins that a provider has not answered yet are waited for, unless now is set;
/// meanwhile every other request gets shuttingDown.
///
/// - Throws: accessDenied, storeFailed.
public enum StopBroker: BrokerMethod {
  /// The name on the wire.
  public static let name = "stopBroker"

  /// The parameters.
  public struct Params: MethodParams, Equatable {
    /// Whether the broker stops although something cannot be saved, and is lost with that.
    public var discardsUnsaved: Bool
    /// Whether the broker stops without waiting for anything: a session whose refresh is under way may be lost.
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

  /// The result.
  public struct Result: ObjectCodable, Equatable {
    /// Refreshes and logins under way that the broker waits for; absent where there is none.
    public var awaited: Int?
    /// How long it waits for them at most.
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
