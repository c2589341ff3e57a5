/// Returns the state of a profile's session.
public enum GetSession: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = Session

  /// The name on the wire.
  public static let name = "getSession"
}

extension GetSession {
  public static var document: MethodDocument {
    MethodDocument(
      "Returns the state of a session.",
      result: "session",
      errors: [.unknownProfile],
      examples: [
        .init("signed out", ["profile": #""default""#], result: SampleJSON.signedOut),
        .init("signed in", result: SampleJSON.session),
      ])
  }
}
