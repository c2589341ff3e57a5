public import JSON

/// Changes what the provider knows of the account.
public enum UpdateProfile: BrokerMethod {
  public static let name = "updateProfile"
  // What a provider knows of an account is the provider's business.
  public static let mayCarrySecret = true

  public typealias Result = User

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// What shall change.
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
}

extension UpdateProfile.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "changes":
      """
    One to 32 members by their names (name, phoneNumber, what the provider knows), each with its new text, number, \
    true or false; null removes it.
    """,
  ])
}

extension UpdateProfile {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Changes what the provider knows of the account; email, phoneNumber and twoFactor need an authTime within 300 \
      s.
      """,
      result: "user",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider + [.validationFailed, .emailTaken],
      examples: [
        .init(
          "another name", ["changes": #"{"name": "Ada"}"#],
          result:
            """
            {
              "id": "u-7f3a",
              "email": "ada@example.com",
              "emailVerified": true,
              "name": "Ada",
              "phoneNumberMasked": "•••• 42"
            }
            """)
      ])
  }
}
