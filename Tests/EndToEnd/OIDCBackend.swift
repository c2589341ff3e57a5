import JSON

/// The OpenID Connect server of `Tests/Servers/OIDCServer`, with a confidential client for the broker.
///
/// It ends with its sandbox.
struct OIDCBackend {
  /// The account of the tests.
  static let password = "alice-password"
  static let credentials = #"{"email":"alice","password":"\#(password)"}"#
  /// The client's password.
  let clientSecret: String
  /// Who it says that it is.
  let issuer: String
  private let control: ControlInterface

  /// Starts a server, with more options where a test needs them.
  init(_ sandbox: Sandbox, _ options: [String] = []) throws {
    let places = try sandbox.startServer("OIDCServer/oidc-server", options).places
    issuer = try places.required("issuer").string()
    control = try ControlInterface(try places.required("controlUrl").string())
    clientSecret = try places.required("clientSecret").string()
  }

  /// Lets a scripted person log in with a browser, which brings an ID token if `scopes` have `openid` among them.
  func logIn(_ wire: SocketWire, scopes: String = #"["openid","profile"]"#) throws {
    let action = try wire.call("login", #"{"method":"browser","scopes":\#(scopes)}"#).required("action")
    _ = try control.ask("/browse", #"{"url":"\#(try action.required("verificationUri").string())"}"#)
    _ = try wire.call("awaitLogin", #"{"loginFlowId":"\#(try action.required("loginFlowId").string())"}"#)
  }

  /// What the server was asked at its token endpoint, and how it answered.
  func tokenRequests() throws -> [JSONNode] {
    try control.ask("/ledger?endpoint=token").required("entries").elements()
  }

  /// Writes a configuration with a profile on the server; the arguments that choose it.
  ///
  /// - Parameters:
  ///   - sandbox: where it is written, beside the state directory.
  ///   - profile: more settings of the profile, each with a comma behind it.
  ///   - client: who the broker is there: `confidential`, or `machine`, which logs in as itself.
  ///   - scopes: what it asks for.
  ///   - issuer: who the server is, where that is not to be what it says itself.
  /// - Returns: the arguments.
  /// - Throws: what the file system says.
  func configure(
    _ sandbox: Sandbox, _ profile: String = "", client: String = "confidential",
    scopes: String = #"["openid", "profile", "email"]"#, issuer: String? = nil
  ) throws -> [String] {
    let file = sandbox.root + "/client-secret"
    try Directory.write(clientSecret, to: file)
    return try sandbox.configure(
      """
      { logLevel: "debug", profiles: { default: { \(profile) provider: "oidc", issuer: "\(issuer ?? self.issuer)",
          clientId: "\(client)", clientSecret: { file: "\(file)" }, clientAuth: "basic", scopes: \(scopes) } } }
      """)
  }
}
