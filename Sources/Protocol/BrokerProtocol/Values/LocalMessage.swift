public import JSON
public import SecretMemory

/// A message in the outbox of the embedded provider, which stands in for a telephone or a mailbox.
public struct LocalMessage: Sendable, Equatable {
  /// Its number; a later message has a larger one.
  public var number: Int
  /// The phone number or e-mail address.
  public var recipient: String
  /// The channel by which it would reach the user.
  public var method: OTPChallenge.Method
  /// The subject, in a few words.
  public var subject: String
  /// The whole text, with the code or the token in it.
  public var body: Secret
  /// The code; nil where there is none.
  public var code: Secret?
  /// The token; nil where there is none.
  public var token: Secret?
  /// When it was written.
  public var createdAt: Timestamp
  /// When it is removed: its code or token has expired then.
  public var expiresAt: Timestamp

  public init(
    number: Int, recipient: String, method: OTPChallenge.Method, subject: String, body: Secret, code: Secret? = nil,
    token: Secret? = nil, createdAt: Timestamp, expiresAt: Timestamp
  ) {
    self.number = number
    self.recipient = recipient
    self.method = method
    self.subject = subject
    self.body = body
    self.code = code
    self.token = token
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}

extension LocalMessage: ObjectCodable {
  public static let blank = LocalMessage(
    number: 0, recipient: "", method: .sms, subject: "", body: .empty, createdAt: .epoch, expiresAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("number", &number, .count)
    try coder.required("to", &recipient)
    try coder.required("method", &method, .name("a known method"))
    try coder.required("subject", &subject)
    try coder.required("body", &body, .secret)
    try coder.optional("code", &code, .secret)
    try coder.optional("token", &token, .secret)
    try coder.required("createdAt", &createdAt)
    try coder.required("expiresAt", &expiresAt)
  }
}
