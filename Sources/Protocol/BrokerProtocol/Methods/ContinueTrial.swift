public import JSON
public import SecretMemory

/// Returns the progress of a trial since the last call; gives the code that it waits for, or stops it.
///
/// Answered as soon as there is something new. With waitsFor nothing the trial is over, its session is ended, and its
/// handle is no longer valid.
///
/// - Throws: accessDenied, flowNotFound, rateLimited, tooManyAttempts.
public enum ContinueTrial: BrokerMethod {
  public static let name = "continueTrial"

  public typealias Result = ProviderTrialState

  public struct Params: MethodParams, Equatable {
    /// How long an answer waits for something new where the caller gives no time.
    public static let standardTimeout = Duration.seconds(25)

    /// The trial's handle.
    public var trialID: String
    /// The one-time code that it waits for.
    public var code: Secret?
    /// One of the account's backup codes, where no code is given.
    public var backupCode: Secret?
    /// Whether to have another code sent, where neither is given.
    public var resends: Bool
    /// Whether to stop the trial, and to end its session.
    public var stops: Bool
    /// How long the answer may wait for something new; 25 at most.
    public var timeout: Duration

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

    public static let blank = Params(trialID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("trialId", &trialID, .word)
      try coder.optional("code", &code, .secret)
      try coder.optional("backupCode", &backupCode, .secret)
      try coder.optional("resend", &resends, absent: false)
      try coder.optional("stop", &stops, absent: false)
      try coder.optional("timeoutSeconds", &timeout, .seconds, absent: Self.standardTimeout)
    }
  }
}
