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

  /// Where the browser of a scripted person ends that opens an address and logs in; it opens that place where `delivers`.
  func browse(_ url: String, decision: String = "accept", delivers: Bool = false) throws -> String {
    let body = #"{"url":"\#(url)","decision":"\#(decision)","deliver":\#(delivers)}"#
    return try control.ask("/browse", body).required("location").string()
  }

  /// A refresh token that another program gets for its user, of the same client.
  func refreshToken(_ sandbox: Sandbox, user: String = "alice") throws -> String {
    let script = """
      import base64, json, sys, urllib.parse, urllib.request
      issuer, user = sys.argv[1:]
      form = {"grant_type": "password", "username": user, "password": user + "-password", "scope": "openid profile"}
      credentials = base64.b64encode(b"confidential:" + sys.stdin.buffer.read()).decode()
      request = urllib.request.Request(
        issuer + "/token/", urllib.parse.urlencode(form).encode(), {"Authorization": "Basic " + credentials})
      print(json.load(urllib.request.urlopen(request))["refresh_token"], end="")
      """
    let done = try sandbox.run("/usr/bin/env", ["python3", "-c", script, issuer, user], input: clientSecret)
    guard done.code == 0 else { throw TestFailure("no refresh token: \(done.errors)") }
    return done.output
  }

  /// How many tokens the server has been asked to revoke.
  func revocations() throws -> Int {
    try control.ask("/ledger?endpoint=revoke").required("entries").elements().count
  }

  /// What the server was asked at its token endpoint, and how it answered.
  func tokenRequests() throws -> [JSONNode] {
    try control.ask("/ledger?endpoint=token").required("entries").elements()
  }

  /// Everything that the server was asked.
  func entries() throws -> [JSONNode] { try control.ask("/ledger").required("entries").elements() }

  /// Changes settings of the server.
  func set(_ settings: String) throws { _ = try control.ask("/settings", settings) }

  /// Plans a fault of the server's next requests.
  func plan(_ fault: String) throws { _ = try control.ask("/fault", fault) }

  /// Forgets the faults that are planned, and lets go on what is held.
  func forgetFaults() throws { _ = try control.ask("/fault", by: "DELETE") }

  /// Lets every nonce that the server has given be too old.
  func replaceNonces() throws { _ = try control.ask("/replace-nonces", "{}") }

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
