import HTTP
import JSON
import SecretMemory
import TestServers

/// The backend of `Tests/Servers/RESTServer` in a process of its own, and what a test may ask of it.
final class Backend: Sendable {
  /// Where the backend listens.
  let url: HTTPURL
  /// The authority of its certificate and its pins; empty without TLS.
  let caFile: String
  let pins: [String]
  private let server: TestServer

  private init(_ server: TestServer) throws {
    self.server = server
    url = try HTTPURL(server.url)
    caFile = server.places["caFile"] ?? ""
    pins = ["pin", "backupPin"].compactMap { server.places[$0] }
  }

  /// Runs a test with a backend of its own, when there is room for it.
  static func run(_ arguments: [String] = [], _ body: (Backend) async throws -> Void) async throws {
    try await TestServer.run(.rest, arguments) { try await body(Backend($0)) }
  }

  /// Asks the control interface.
  @discardableResult
  func ask(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> JSONNode {
    try await server.ask(method, path, body)
  }

  /// Adds an account.
  func add(_ account: String) async throws { try await ask(.post, "/accounts", account) }

  /// Plans a misbehaviour of the next request to an endpoint.
  func misbehave(_ name: String, at endpoint: String, _ more: String = "") async throws {
    try await ask(.post, "/misbehave", #"{"replace":true,"endpoint":"\#(endpoint)","name":"\#(name)"\#(more)}"#)
  }

  /// The code that was sent last.
  func code() async throws -> Secret { try Secret(utf8: try await ask(.get, "/codes").required("code").string()) }

  /// The token of the mail that was sent last.
  func mailToken() async throws -> Secret { try Secret(utf8: try await ask(.get, "/mails").required("token").string()) }

  /// The entries of the ledger of one kind.
  func ledger(_ event: String) async throws -> [JSONNode] {
    try await ask(.get, "/ledger?event=\(event)").required("entries").elements()
  }
}
