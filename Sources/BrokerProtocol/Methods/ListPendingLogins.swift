public import JSON

/// Returns the login of a profile that waits for a one-time code or for a user action.
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
      "Returns the login of a profile that waits for a one-time code or for a user action.",
      result: "logins",
      errors: ErrorKind.ofProfile,
      examples: [
        .init(
          "a code is to be entered at another device",
          result:
            """
            {
              "logins": [\(SampleJSON.deviceLogin)]
            }
            """)
      ])
  }
}
