import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import LinuxSystem
import ProviderKit
import SecretMemory
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import OIDCProvider

/// A resource and its authorization server on one port: what they announce, and what they were asked.
struct ResourceScript: Sendable {
  /// The path of the resource.
  var path = "/mcp"
  /// The fields of the challenge behind `Bearer `; nil for no challenge; `@` stands for the origin.
  var challenge: String? = #"resource_metadata="@/.well-known/oauth-protected-resource/mcp""#
  /// Where the resource's document is.
  var documentPath = "/.well-known/oauth-protected-resource/mcp"
  /// The resource that the document names; `@` stands for the origin.
  var resource = "@/mcp"
  /// More members of the document, each with a comma before it.
  var documentMembers = ""
  /// The path of the issuer.
  var issuerPath = ""
  /// Where the authorization server's metadata are.
  var metadataPath = "/.well-known/oauth-authorization-server"
  /// The issuer that they name; `@` stands for the origin.
  var issuer = "@"
  /// More members of the metadata.
  var metadataMembers =
    #","registration_endpoint":"@/register","code_challenge_methods_supported":["S256"]"#
    + #","token_endpoint_auth_methods_supported":["none"]"#
  /// What the registration answers beside the client's id.
  var registered = ""
  /// What the token endpoint answers; nil for tokens.
  var token: @Sendable (FakeProvider.Request) -> FakeProvider.Reply? = { _ in nil }
  /// Answers before all others.
  var first: @Sendable (FakeProvider.Request, String) -> FakeProvider.Reply? = { _, _ in nil }

  func reply(_ request: FakeProvider.Request, _ origin: String, _ number: Int) -> FakeProvider.Reply {
    func put(_ text: String) -> String {
      text.split(separator: "@", omittingEmptySubsequences: false).joined(separator: origin)
    }
    if let reply = first(request, origin) { return reply }
    let documents = [documentPath, metadataPath]
    switch request.path {
    case path:
      return challenge.map { FakeProvider.Reply(401, "", ["WWW-Authenticate: Bearer \(put($0))"]) } ?? .notFound
    case documents[0]:
      return FakeProvider.Reply(
        200, put(#"{"resource":"\#(resource)","authorization_servers":["@\#(issuerPath)"]\#(documentMembers)}"#))
    case documents[1]:
      return FakeProvider.Reply(
        200,
        put(
          #"{"issuer":"\#(issuer)\#(issuerPath)","token_endpoint":"@/token","authorization_endpoint":"@/authorize","#
            + #""revocation_endpoint":"@/revoke"\#(metadataMembers)}"#))
    case "/register": return FakeProvider.Reply(201, #"{"client_id":"made-\#(number)"\#(registered)}"#)
    case "/token":
      if let reply = token(request) { return reply }
      if request.form["refresh_token"]?.hasPrefix("authbroker") == true {
        return FakeProvider.Reply(400, #"{"error":"invalid_grant"}"#)
      }
      return FakeProvider.Reply(200, #"{"access_token":"at\#(number)","refresh_token":"rt\#(number)"}"#)
    case "/revoke": return FakeProvider.Reply(200, "", [])
    default: return .notFound
    }
  }
}

/// The registered clients of a test.
actor MemoryClients: RegisteredClientStore {
  private(set) var all: [RegisteredClient] = []
  func clients() throws(ProviderFailure) -> [RegisteredClient] { all }
  func keep(_ clients: [RegisteredClient]) throws(ProviderFailure) { all = clients }
}

/// A test's resource, with providers that share their registered clients.
struct ResourceStage {
  let server: FakeProvider
  let client: HTTPClient
  let clients: RegisteredClients
  private let uptime: ManualUptime

  /// Time that a test lets pass.
  final class ManualUptime: Sendable {
    let now = Mutex(Duration.seconds(1000))
  }

  /// Runs a test.
  static func run(
    _ script: @escaping @Sendable () -> ResourceScript, _ body: (ResourceStage) async throws -> Void
  ) async throws {
    let count = Mutex(0)
    try await FakeProvider.run { request, origin in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return script().reply(request, origin, number)
    } _: { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let uptime = ManualUptime()
      let store = MemoryClients()
      let stage = ResourceStage(
        server: server, client: client,
        clients: RegisteredClients(store) { uptime.now.withLock { $0 } }, uptime: uptime, store: store)
      let result: Result<Void, any Error>
      do { result = .success(try await body(stage)) } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  private init(
    server: FakeProvider, client: HTTPClient, clients: RegisteredClients, uptime: ManualUptime, store: MemoryClients
  ) {
    self.server = server
    self.client = client
    self.clients = clients
    self.uptime = uptime
    memory = store
  }

  /// What the registered clients rest in.
  let memory: MemoryClients

  /// Lets time pass.
  func pass(_ time: Duration) { uptime.now.withLock { $0 += time } }

  /// A provider of the resource.
  func provider(
    path: String = "/mcp", _ change: (inout OIDCProfileConfiguration) -> Void = { _ in }
  ) throws -> ResourceProvider {
    var dialect = OIDCDialect(
      type: "mcp", issuer: server.issuer + path, scopes: [], methods: [.refreshToken, .browser, .clientCredentials])
    dialect.quirks.readsOAuthFirst = true
    dialect.quirks.needsProof = true
    var configuration = OIDCProfileConfiguration(dialect: dialect, clientID: "")
    configuration.resourcePlan = ResourcePlan()
    change(&configuration)
    let uptime = uptime
    let secret = try Secret(utf8: "configured-secret")
    return try ResourceProvider(
      configuration, client: client, secrets: { _ in .success(secret) }, clients: clients,
      uptime: { uptime.now.withLock { $0 } })
  }

  /// What came of a login in a browser that the server sends back with a query.
  struct Login {
    let query: [String: String]
    let result: Result<ProviderSession, ProviderFailure>
    var session: ProviderSession { get throws { try result.get() } }
    /// The scopes that were asked for; nil for none.
    var scopes: Set<String>? { query["scope"].map { Set($0.split(separator: " ").map(String.init)) } }
  }

  /// Logs in with a browser; `answer` is what the server adds to code and state.
  func logIn(_ provider: ResourceProvider, scopes: [String] = [], answer: String = "") async throws -> Login {
    let action = try #require(try await provider.login(Credentials(method: .browser, scopes: scopes)).action)
    let visit = try BrowserVisit(action)
    let waiting = Task { () -> Result<ProviderSession, ProviderFailure> in
      do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: action.flow)) } catch {
        return .failure(error)
      }
    }
    _ = try await visit.open("/callback?code=c1&state=\(visit.state)\(answer)")
    return Login(query: visit.query, result: await waiting.value)
  }

  /// The forms that the token endpoint got, without the questions whether a client is known.
  var tokenForms: [[String: String]] {
    server.requests(at: "/token").map(\.form).filter { $0["refresh_token"]?.hasPrefix("authbroker") != true }
  }
}
