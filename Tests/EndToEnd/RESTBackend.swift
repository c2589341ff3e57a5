import JSON

/// The backend of `Tests/Servers/RESTServer`, and what a test may ask of it.
///
/// It ends with its sandbox.
struct RESTBackend {
  /// Where it listens.
  let url: String
  /// The authority of its certificate, and its pins; empty without TLS.
  let caFile: String
  let pins: [String]
  private let control: ControlInterface

  /// The account of the tests, with a second factor.
  static let account =
    #"{"email":"ada@example.com","password":"example password 1","name":"Ada","phoneNumber":"+15550100123"}"#

  /// Starts a backend that answers in a shape, with one account or none, and more options where a test needs them.
  init(_ sandbox: Sandbox, shape: String = "oauth", account: String? = account, _ options: [String] = []) throws {
    let known = account.map { ["--account", $0] } ?? []
    let places = try sandbox.startServer("RESTServer/rest-server", ["--shape", shape] + known + options).places
    url = try places.required("url").string()
    control = try ControlInterface(try places.required("controlUrl").string())
    caFile = try places.optional("caFile", String.init(from:)) ?? ""
    pins = try ["pin", "backupPin"].compactMap { try places.optional($0, String.init(from:)) }
  }

  /// Asks the control interface; with a body it is a POST.
  func ask(_ path: String, _ body: String? = nil) throws -> JSONNode { try control.ask(path, body) }

  /// The code that was sent last.
  func code() throws -> String { try ask("/codes").required("code").string() }

  /// The token that was mailed last.
  func token() throws -> String { try ask("/mails").required("token").string() }

  /// What became of every use of a refresh token, in order.
  func refreshes() throws -> [String] {
    try ask("/ledger?event=refresh").required("entries").elements().map { try $0.required("outcome").string() }
  }
}
