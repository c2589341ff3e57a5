import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import JSON
import ProviderKit
import SecretMemory
import TestServers
import TestSupport

@testable import FirebaseProvider

/// A provider on the project that `Tests/Servers/FirebaseServer` plays.
struct Project {
  let provider: FirebaseProvider
  let server: TestServer

  /// The account of the tests.
  static let ann = #"{"email":"ann@example.com","password":"made-up-password","displayName":"Ann"}"#

  /// Runs a test with a project of its own.
  static func run(
    _ accounts: [String] = [ann], apiKey: String = "demo-api-key", timeout: Duration = Patience.ceiling,
    secrets: SecretFinder? = nil, baseURL: String? = nil,
    _ body: (Project) async throws -> Void
  ) async throws {
    try await TestServer.run(.firebase, accounts.flatMap { ["--account", $0] }) { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .all(timeout))
      let key = try Secret(utf8: apiKey)
      let configuration = FirebaseProfileConfiguration(
        apiKey: SecretReference("apiKey", .environment("KEY")), baseURL: try HTTPURL(baseURL ?? server.url))
      let result: Result<Void, any Error>
      do {
        let provider = try FirebaseProvider(configuration, client: client, secrets: secrets ?? { _ in .success(key) })
        result = .success(try await body(Project(provider: provider, server: server)))
      } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  /// The session of the account of the tests.
  func session() async throws -> ProviderSession {
    guard case .authenticated(let session) = try await provider.login(.ann()) else {
      throw TestServerFailure.notStarted
    }
    return session
  }

  /// Plans what the next call gets for an answer.
  func answer(_ call: String, _ status: Int, _ body: String, type: String = "application/json") async throws {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("call", call)
      writer.member("kind", "answer")
      writer.member("status", status)
      writer.member("body", body)
      writer.member("type", type)
    }
    try await server.ask(.post, "/fault", String(decoding: writer.bytes, as: UTF8.self))
  }

  /// Plans an error in the documented form.
  func refuse(_ call: String, _ message: String, status: Int = 400) async throws {
    let detail = #"{"message":"\#(message)","domain":"global","reason":"invalid"}"#
    try await answer(call, status, #"{"error":{"code":\#(status),"message":"\#(message)","errors":[\#(detail)]}}"#)
  }

  /// The code of the mail that was sent last.
  func code() async throws -> Secret {
    try Secret(utf8: try await server.ask(.get, "/codes").required("code").string())
  }

  /// What each call of a name came to: `written`, `dropped` or `replaced`.
  func deliveries(_ call: String) async throws -> [String] {
    try await server.ask(.get, "/ledger").required("entries").elements()
      .filter { try $0.required("call").string() == call }.map { try $0.required("delivery").string() }
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
  /// What the account of the tests logs in with.
  static func ann(_ password: String = "made-up-password") throws -> Credentials {
    Credentials(email: "ann@example.com", password: try Secret(utf8: password))
  }
}

extension LoginOutcome {
  /// The session; nil where the login came to something else.
  var session: ProviderSession? {
    if case .authenticated(let session) = self { return session }
    return nil
  }

  /// The challenge; nil where the login came to something else.
  var challenge: ProviderChallenge? {
    if case .otpRequired(let challenge) = self { return challenge }
    return nil
  }
}
