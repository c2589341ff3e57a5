import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import JSON
import SecretMemory
import TestServers

@testable import OIDCProvider

/// A real OpenID Connect server, and the means to make providers for it.
struct Party {
  let server: TestServer
  /// What the providers send their requests with.
  let client: HTTPClient

  /// Runs a test with a server of its own.
  static func run(_ arguments: [String] = [], _ body: (Party) async throws -> Void) async throws {
    try await TestServer.run(.oidc, arguments) { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<Void, any Error>
      do { result = .success(try await body(Party(server: server, client: client))) } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  /// A provider with the public client that may do everything.
  func provider(
    _ clientID: String = "cli", secret: String? = nil, _ authentication: OIDCDialect.ClientAuthentication = .none,
    scopes: [String] = ["openid", "profile", "email", "read"], tls: TLSPolicy? = nil,
    redirect: LoopbackRedirect = .standard,
    _ change: (inout OIDCDialect) -> Void = { _ in }
  ) throws -> OIDCProvider {
    var dialect = OIDCDialect(type: "oidc", issuer: server.places["issuer"] ?? "", scopes: scopes)
    change(&dialect)
    let secret = try secret.map { try Secret(utf8: $0) }
    let configuration = OIDCProfileConfiguration(
      dialect: dialect, clientID: clientID,
      clientSecret: secret.map { _ in SecretReference("clientSecret", .environment("SECRET")) },
      clientAuthentication: authentication, redirect: redirect, tls: try tls ?? policy())
    return try OIDCProvider(configuration, client: client) { _ in
      secret.map { .success($0) } ?? .failure(.unsupported)
    }
  }

  /// What trusts the server's authority, and wants no pin unless some are given.
  func policy(pins: [String]? = nil) throws -> TLSPolicy {
    TLSPolicy(
      caFile: server.places["caFile"] ?? TLSPolicy.systemCAFile, pins: try pins.map { try PinSet($0) })
  }

  /// What the server said of itself, by name.
  var places: [String: String] { server.places }

  /// Asks the server's control interface.
  @discardableResult
  func control(_ path: String, _ body: String = "{}") async throws -> JSONNode {
    try await server.ask(.post, path, body)
  }

  /// Changes settings of the server.
  func set(_ settings: String) async throws { try await control("/settings", settings) }

  /// What a scripted person sees in the end who opens an address, logs in and decides.
  func browse(_ url: String, _ more: String = "") async throws -> JSONNode {
    try await server.ask(.post, "/browse", #"{"url":"\#(url)"\#(more)}"#)
  }

  /// What is shown at an address.
  func visit(_ url: String) async throws -> JSONNode { try await server.ask(.post, "/visit", #"{"url":"\#(url)"}"#) }

  /// All entries of the ledger.
  func ledger() async throws -> [JSONNode] { try await server.ask(.get, "/ledger").required("entries").elements() }

  /// The entries of the ledger of one endpoint.
  func ledger(_ endpoint: String) async throws -> [JSONNode] {
    try await server.ask(.get, "/ledger?endpoint=\(endpoint)").required("entries").elements()
  }

  /// The texts of one member of the entries of one endpoint.
  func ledger(_ endpoint: String, _ member: String) async throws -> [String] {
    try await ledger(endpoint).map { try $0[member]?.string() ?? "" }
  }
}

/// The failure of a call; nil where it succeeded.
func failure<R>(_ call: () async throws(ProviderFailure) -> R) async -> ProviderFailure? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}

extension Credentials {
  /// What the account of the server logs in with.
  static func alice(_ password: String = "alice-password") throws -> Credentials {
    Credentials(email: "alice", password: try Secret(utf8: password))
  }
}

extension LoginOutcome {
  /// The session; nil where the login came to something else.
  var session: ProviderSession? {
    if case .authenticated(let session) = self { return session }
    return nil
  }

  /// What the user has to do; nil where the login came to something else.
  var action: ProviderUserAction? {
    if case .userActionRequired(let action) = self { return action }
    return nil
  }
}

extension UserActionProgress {
  /// The session; nil while there is none.
  var session: ProviderSession? {
    if case .authenticated(let session) = self { return session }
    return nil
  }
}
