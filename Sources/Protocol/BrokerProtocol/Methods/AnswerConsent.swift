public import JSON

/// Answers a question of listConsents: the requests that wait for it go on, or are refused with consentDenied.
///
/// The first answer holds. A consent belongs to its subject, and is remembered for it until the vault is locked, it was not
/// used for some time, or twelve hours are over; a refusal is remembered for a minute at most. What a rule asks always, and
/// what comes over a forwarded socket, is consented to for this process alone.
///
/// - Throws: accessDenied, flowNotFound.
public enum AnswerConsent: BrokerMethod {
  public static let name = "answerConsent"

  public struct Params: MethodParams, Equatable {
    /// The handle of the question.
    public var consentID: String
    /// Whether the client may have the token.
    public var allow: Bool
    /// The subject of the consent; absent for the one that the question shows.
    public var subject: String?
    /// The number of the ancestor, one of the question's chain; absent for the one that the question shows.
    public var ancestor: Int?
    /// How long the answer is remembered: a consent while it is not used, twelve hours at most, a refusal for a minute at
    /// most; absent as it is configured; 0: for the waiting requests alone.
    public var remember: Duration?

    public init(
      consentID: String, allow: Bool, subject: String? = nil, ancestor: Int? = nil, remember: Duration? = nil
    ) {
      self.consentID = consentID
      self.allow = allow
      self.subject = subject
      self.ancestor = ancestor
      self.remember = remember
    }

    public static let blank = Params(consentID: "", allow: false)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("consentId", &consentID, .word)
      try coder.required("allow", &allow)
      try coder.optional("subject", &subject, .word(of: ConsentGrant.subjects))
      try coder.optional("ancestor", &ancestor, .count)
      try coder.optional("rememberSeconds", &remember, .seconds)
    }
  }

  public typealias Result = Empty
}
