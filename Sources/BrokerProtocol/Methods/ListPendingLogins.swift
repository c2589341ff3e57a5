public import JSON

/// Tells which login of a profile waits for its code, or for its user.
public enum ListPendingLogins: BrokerMethod {
  public static let name = "listPendingLogins"

  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The logins; a profile has one at most.
    public var logins: [PendingLoginStep]

    public init(logins: [PendingLoginStep]) { self.logins = logins }

    public static let blank = Result(logins: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("logins", &logins)
    }
  }
}

extension ListPendingLogins {
  public static var document: MethodDocument {
    MethodDocument(
      "Tells which login of a profile waits for its code, or for its user.",
      result: "logins",
      errors: ErrorKind.ofProfile,
      examples: [
        .init(
          "a code is to be entered at another device",
          result:
            """
            {
              "logins": [
                {
                  "loginFlowId": "example-login",
                  "profile": "default",
                  "kind": "deviceCode",
                  "verificationUri": "https://sso.example.com/device",
                  "verificationUriComplete": "https://sso.example.com/device?user_code=WDJB-MJHT",
                  "userCode": "WDJB-MJHT",
                  "expiresAt": "2026-03-01T09:10:00Z",
                  "intervalSeconds": 5
                }
              ]
            }
            """)
      ])
  }
}
