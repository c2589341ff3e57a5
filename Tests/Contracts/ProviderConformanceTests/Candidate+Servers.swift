import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory
import TestServers

@testable import FirebaseProvider
@testable import OIDCProvider
@testable import RESTProvider

/// The providers that have a server.
extension Candidate {
  /// Nobody listens here: the port is reserved (tcpmux), and nothing of this machine serves it.
  private static let nowhere = "http://127.0.0.1:1"

  /// Finds no secret.
  private static let noSecret: SecretFinder = { reference in
    .failure(.credentialMissing(MissingCredential(reference.name, "it is empty")))
  }

  static func runREST(_ body: (Candidate) async throws -> Void) async throws {
    let account = #"{"email":"ann@example.com","password":"made-up-password","name":"Ann"}"#
    try await run(.rest, ["--shape", "oauth", "--account", account]) { server, client in
      func provider(_ url: String) throws -> RESTProvider {
        try RESTProvider(RESTProfileConfiguration(baseURL: try HTTPURL(url)), client: client, secrets: noSecret)
      }
      var candidate = Candidate(provider: try provider(server.url), credentials: try ann()) {
        try await server.ask(.post, "/revoke", "{}")
      }
      candidate.spoilRefresh = { spoiling in
        let name =
          switch spoiling {
          case .loseReply: "drop-after-commit"
          case .unavailable: "status-503-retry-none"
          case .captivePortal: "captive-portal"
          }
        try await server.ask(.post, "/misbehave", #"{"replace":true,"endpoint":"refresh","name":"\#(name)"}"#)
      }
      candidate.unreachable = try provider(nowhere)
      try await body(candidate)
    }
  }

  static func runOIDC(_ body: (Candidate) async throws -> Void) async throws {
    try await run(.oidc, []) { server, client in
      func provider(_ issuer: String) throws -> OIDCProvider {
        let dialect = OIDCDialect(type: "oidc", issuer: issuer, scopes: ["openid", "profile", "email"])
        let configuration = OIDCProfileConfiguration(dialect: dialect, clientID: "cli")
        return try OIDCProvider(configuration, client: client, secrets: noSecret)
      }
      let credentials = Credentials(email: "alice", password: try Secret(utf8: "alice-password"))
      var candidate = Candidate(provider: try provider(server.places["issuer"] ?? ""), credentials: credentials) {
        try await server.ask(.post, "/revoke", "{}")
      }
      candidate.spoilRefresh = { try await server.ask(.post, "/fault", fault($0, "endpoint")) }
      candidate.unreachable = try provider(nowhere)
      try await body(candidate)
    }
  }

  static func runFirebase(_ body: (Candidate) async throws -> Void) async throws {
    let account = #"{"email":"ann@example.com","password":"made-up-password","displayName":"Ann"}"#
    try await run(.firebase, ["--account", account]) { server, client in
      let key = try Secret(utf8: "demo-api-key")
      func provider(_ url: String) throws -> FirebaseProvider {
        let configuration = FirebaseProfileConfiguration(
          apiKey: SecretReference("apiKey", .environment("KEY")), baseURL: try HTTPURL(url))
        return try FirebaseProvider(configuration, client: client) { _ in .success(key) }
      }
      var candidate = Candidate(provider: try provider(server.url), credentials: try ann()) {
        try await server.ask(.post, "/end", #"{"email":"ann@example.com","how":"TOKEN_EXPIRED"}"#)
      }
      candidate.rotates = false
      candidate.revokes = false
      candidate.spoilRefresh = { try await server.ask(.post, "/fault", fault($0, "call")) }
      candidate.unreachable = try provider(nowhere)
      try await body(candidate)
    }
  }

  /// A fault of the next token request.
  private static func fault(_ spoiling: Spoiling, _ member: String) -> String {
    switch spoiling {
    case .loseReply: #"{"\#(member)":"token","kind":"drop-after-commit"}"#
    case .unavailable: #"{"\#(member)":"token","kind":"answer","status":503,"body":"{}"}"#
    case .captivePortal:
      #"{"\#(member)":"token","kind":"answer","status":200,"body":"<html>Log in to the network","type":"text/html"}"#
    }
  }

  private static func ann() throws -> Credentials {
    Credentials(email: "ann@example.com", password: try Secret(utf8: "made-up-password"))
  }

  private static func run(
    _ kind: TestServer.Kind, _ arguments: [String], _ body: (TestServer, HTTPClient) async throws -> Void
  ) async throws {
    try await TestServer.run(kind, arguments) { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<Void, any Error>
      do { result = .success(try await body(server, client)) } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }
}
