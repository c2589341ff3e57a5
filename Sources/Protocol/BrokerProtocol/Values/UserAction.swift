public import JSON

/// An action that a user has to take in a browser or at a device before a login can go on.
///
/// The address and the code are no secret of a session, but anyone who has them can end the login as another user: only
/// the connection that began it and administrative ones get them.
public struct UserAction: Sendable, Equatable {
  /// The kind of action.
  public enum Kind: String, Sendable, CaseIterable {
    /// At any device, with a code (RFC 8628).
    case deviceCode
    /// In a browser on this computer (RFC 8252).
    case browser
  }

  /// The broker's handle of the login; any client allowed on the profile may wait for it or cancel it.
  public var loginFlowID: String
  /// The profile that logs in.
  public var profile: ProfileName
  /// The kind of action.
  public var kind: Kind
  /// The address to open; it and the codes are for the connection that began the login and administrative ones alone.
  public var verificationURI: String?
  /// The address with the code in it already, for a QR code (RFC 8628, section 3.3.1).
  public var verificationURIComplete: String?
  /// The code to type in.
  public var userCode: String?
  /// When the login ends if nothing is done.
  public var expiresAt: Timestamp
  /// How often the broker polls the provider; nil where it does not poll.
  public var interval: Duration?
  /// The parameter `clientContext` of the login that has begun it.
  public var clientContext: String?
  /// Whether an event tells of the login once more, since it still waits; absent at the first time, and in results.
  public var reminder: Bool?
  /// The connections that began the login.
  package var beginners = LoginBeginners()

  public init(
    loginFlowID: String, profile: ProfileName, kind: Kind, verificationURI: String?,
    verificationURIComplete: String? = nil, userCode: String? = nil, expiresAt: Timestamp, interval: Duration? = nil,
    clientContext: String? = nil
  ) {
    self.loginFlowID = loginFlowID
    self.profile = profile
    self.kind = kind
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.userCode = userCode
    self.expiresAt = expiresAt
    self.interval = interval
    self.clientContext = clientContext
  }
}

extension UserAction: ObjectCodable {
  public static let blank = UserAction(
    loginFlowID: "", profile: .default, kind: .browser, verificationURI: nil, expiresAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("loginFlowId", &loginFlowID)
    try coder.required("profile", &profile)
    try coder.required("kind", &kind, .name("deviceCode or browser"))
    try coder.optional("verificationUri", &verificationURI)
    try coder.optional("verificationUriComplete", &verificationURIComplete)
    try coder.optional("userCode", &userCode)
    try coder.required("expiresAt", &expiresAt)
    try coder.optional("intervalSeconds", &interval, .seconds)
    try coder.optional("clientContext", &clientContext)
    try coder.optional("reminder", &reminder)
  }
}
