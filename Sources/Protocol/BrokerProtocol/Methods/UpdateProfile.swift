public import JSON

/// Changes the account's profile at the provider; email, phoneNumber and twoFactor need an authTime within 300 s.
///
/// Changes of email, phoneNumber and twoFactor want a login or reauthenticate within 300 seconds, by the same
/// connection or with a proof of access to the state directory (reauthRequired with data.proof). An enrolment is
/// answered by verifyOtp with its otpFlowId. It is kept in memory, and ends with the session that began it, with
/// another enrolment of the profile, or after too many wrong codes.
///
/// - Throws: profile, session, provider, validationFailed, emailTaken.
public enum UpdateProfile: BrokerMethod {
  public static let name = "updateProfile"
  // What a provider knows of an account is the provider's business.
  public static let mayCarrySecret = true

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The changes: one to 32 members by their names (name, phoneNumber and others that the provider has), each with
    /// its new string, number or boolean; null removes it.
    public var changes: ProfileChanges

    public init(profile: ProfileName? = nil, changes: ProfileChanges) {
      self.profile = profile
      self.changes = changes
    }

    public static let blank = Params(changes: ProfileChanges([]))

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("changes", &changes)
    }
  }

  /// The account after the change.
  public struct Result: ObjectCodable, Equatable {
    /// The account, as the provider describes it now.
    public var user: User
    /// The second factor that is to be proven first: an authenticator application (totp), or a phone number or e-mail
    /// address that a code was sent to.
    ///
    /// The change is made once verifyOtp has taken its first code.
    public var enrolment: FactorEnrolment?

    public init(user: User, enrolment: FactorEnrolment? = nil) {
      self.user = user
      self.enrolment = enrolment
    }

    public static let blank = Result(user: .blank)

    /// The user's own members, and the rest beside them.
    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try user.code(&coder)
      try coder.optional("enrolment", &enrolment)
    }
  }
}
