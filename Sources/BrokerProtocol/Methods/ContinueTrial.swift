public import JSONRPC
public import SecretMemory

/// Asks how far a trial of a provider came; answers the code that it waits for, or ends it.
///
/// Answered as soon as there is something new.
public enum ContinueTrial: BrokerMethod {
  /// The name on the wire.
  public static let name = "continueTrial"

  /// What the answer carries.
  public typealias Result = ProviderTrialState

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["trialId", "code", "backupCode", "resend", "stop", "timeoutSeconds"]

    /// How long an answer waits for something new where the caller does not say.
    public static let standardTimeout = Duration.seconds(25)

    /// The trial's handle.
    public var trialID: String
    /// The one-time code that it waits for.
    public var code: Secret?
    /// One of the account's backup codes, where no code is given.
    public var backupCode: Secret?
    /// Whether another code is to be sent, where neither is given.
    public var resends: Bool
    /// Whether nothing more is to be tried: a session that there is ends.
    public var stops: Bool
    /// How long the answer may wait for something new.
    public var timeout: Duration

    /// Params with the members that a caller gives.
    public init(
      trialID: String, code: Secret? = nil, backupCode: Secret? = nil, resends: Bool = false, stops: Bool = false,
      timeout: Duration = Self.standardTimeout
    ) {
      self.trialID = trialID
      self.code = code
      self.backupCode = backupCode
      self.resends = resends
      self.stops = stops
      self.timeout = timeout
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("trialId", trialID)
        writer.member(revealing: "code", code)
        writer.member(revealing: "backupCode", backupCode)
        if resends { writer.member("resend", true) }
        if stops { writer.member("stop", true) }
        if timeout != Self.standardTimeout { writer.seconds("timeoutSeconds", timeout) }
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      trialID = try node.required("trialId").word()
      code = try node.optional("code") { node throws(JSONMismatch) in try node.secret() }
      backupCode = try node.optional("backupCode") { node throws(JSONMismatch) in try node.secret() }
      resends = try node.optional("resend", Bool.init(from:)) ?? false
      stops = try node.optional("stop", Bool.init(from:)) ?? false
      timeout =
        try node.optional("timeoutSeconds") { node throws(JSONMismatch) in try node.seconds() } ?? Self.standardTimeout
    }
  }
}
