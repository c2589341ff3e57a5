public import JSON
public import SecretMemory

/// Makes an account at the provider and logs in.
public enum Register: BrokerMethod {
  public static let name = "register"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The account's e-mail address.
    public var email: String
    /// The password.
    public var password: Secret
    /// The name to show.
    public var name: String?
    /// Where one-time codes go.
    public var phoneNumber: String?

    public init(
      profile: ProfileName? = nil, email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil
    ) {
      self.profile = profile
      self.email = email
      self.password = password
      self.name = name
      self.phoneNumber = phoneNumber
    }

    public static let blank = Params(email: "", password: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("email", &email, .text(atMost: ParameterLength.email))
      try coder.required("password", &password, .secret)
      try coder.optional("name", &name, .text(atMost: ParameterLength.name))
      try coder.optional("phoneNumber", &phoneNumber, .text(atMost: ParameterLength.phoneNumber))
    }
  }
}

extension Register.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "name": "The name to show.",
    "phoneNumber": "Where one-time codes go.",
  ])
}

extension Register {
  public static var document: MethodDocument {
    MethodDocument(
      "Makes an account at the provider and logs in.",
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofLogin + ErrorKind.ofProvider + [.emailTaken],
      examples: [
        .init(
          "without a phone number",
          [
            "email": #""ada@example.com""#,
            "password": #""example-password""#,
            "name": #""Ada""#,
          ],
          result:
            """
            {
              "status": "authenticated",
              "session": {
                "profile": "default",
                "provider": "local",
                "state": "authenticated",
                "userId": "u-7f3a",
                "user": {
                  "id": "u-7f3a",
                  "email": "ada@example.com",
                  "emailVerified": true,
                  "name": "Ada",
                  "phoneNumberMasked": "•••• 42"
                },
                "scopes": ["profile"],
                "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
                "refreshTokenPresent": true,
                "refreshTokenExpiresAt": "2026-03-31T09:00:00Z",
                "authTime": "2026-03-01T09:00:00Z",
                "lastValidatedAt": "2026-03-01T09:00:00Z"
              }
            }
            """),
        .init(
          "with a phone number",
          [
            "profile": #""default""#,
            "email": #""ada@example.com""#,
            "password": #""example-password""#,
            "phoneNumber": #""+15550100042""#,
          ],
          result:
            """
            {
              "status": "otpRequired",
              "requires2FA": true,
              "challenge": {
                "otpFlowId": "example-flow",
                "profile": "default",
                "method": "sms",
                "maskedDestination": "•••• 42",
                "otpLength": 6,
                "expiresAt": "2026-03-01T09:05:00Z",
                "nextResendAt": "2026-03-01T09:00:30Z",
                "attemptsRemaining": 5,
                "backupCodesAllowed": false
              }
            }
            """),
        .init(
          "the address must be verified first", ["email": #""ada@example.com""#, "password": #""example-password""#],
          result:
            """
            {"status": "emailVerificationRequired"}
            """),
      ])
  }
}
