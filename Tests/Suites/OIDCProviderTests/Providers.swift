import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import LinuxSystem
import ProviderKit
import Sealing
import SecretMemory
import TestServers
import TextCoding

@testable import OIDCProvider

/// A provider at an address.
func withProvider(
  _ dialect: OIDCDialect, clientID: String = "cli", clientSecret: String? = nil,
  authentication: OIDCDialect.ClientAuthentication = .none, secrets: SecretFinder? = nil,
  redirect: LoopbackRedirect = .standard, clock: OIDCProvider.Clock? = nil,
  uptime: @escaping @Sendable () -> Duration = { BootClock.now },
  _ body: (OIDCProvider) async throws -> Void
) async throws {
  let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
  let secret = try clientSecret.map { try Secret(utf8: $0) }
  let finder = secrets ?? secret.map { secret in { @Sendable _ in .success(secret) } }
  let configuration = OIDCProfileConfiguration(
    dialect: dialect, clientID: clientID,
    clientSecret: finder.map { _ in SecretReference("clientSecret", .environment("SECRET")) },
    clientAuthentication: authentication, redirect: redirect)
  let result: Result<Void, any Error>
  do {
    let provider = try OIDCProvider(
      configuration, client: client, secrets: finder ?? noSecret,
      clock: clock ?? { Timestamp(milliseconds: WallClock.milliseconds) }, uptime: uptime)
    result = .success(try await body(provider))
  } catch { result = .failure(error) }
  await client.close()
  try result.get()
}

/// Finds no secret.
let noSecret: SecretFinder = { reference in
  let kind: ErrorKind = reference.part == .line ? .configInvalid : .missingCredential
  return .failure(.credentialMissing(MissingCredential(reference.name, "it is empty", kind: kind)))
}

/// A provider whose metadata and token endpoint answer as a test says.
func withProvider(
  metadata: String = "", _ configure: @escaping @Sendable (inout OIDCDialect) -> Void = { _ in },
  answer: @escaping @Sendable (FakeProvider.Request, _ issuer: String) -> FakeProvider.Reply,
  _ body: (OIDCProvider, FakeProvider) async throws -> Void
) async throws {
  try await FakeProvider.run { request, issuer in
    request.path == "/.well-known/openid-configuration"
      ? FakeProvider.Reply(200, document(issuer, metadata)) : answer(request, issuer)
  } _: { server in
    var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
    configure(&dialect)
    try await withProvider(dialect) { try await body($0, server) }
  }
}

/// A provider that has metadata, and answers everything else in one way.
func withProvider(
  reply: FakeProvider.Reply, _ body: (OIDCProvider, FakeProvider) async throws -> Void
) async throws {
  let answer: @Sendable (FakeProvider.Request, String) -> FakeProvider.Reply = { _, _ in reply }
  try await withProvider(answer: answer, body)
}

/// The metadata of a provider that has every endpoint; `more` begins with a comma.
func document(_ issuer: String, _ more: String = "") -> String {
  """
  {"issuer":"\(issuer)","token_endpoint":"\(issuer)/token","authorization_endpoint":"\(issuer)/authorize",\
  "device_authorization_endpoint":"\(issuer)/device","revocation_endpoint":"\(issuer)/revoke",\
  "userinfo_endpoint":"\(issuer)/userinfo","end_session_endpoint":"\(issuer)/logout"\(more)}
  """
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

/// A secret of a test.
func secret(_ text: String) throws -> Secret { try Secret(utf8: text) }

/// An ID token, made up.
func idToken(_ claims: String, header: String = #"{"alg":"RS256","kid":"k1"}"#) -> String {
  let parts = [header, claims].map { String(decoding: Base64.encode(Array($0.utf8).span, as: .url), as: UTF8.self) }
  return parts.joined(separator: ".") + ".c2lnbmF0dXJl"
}

extension Credentials {
  /// What the user of the tests logs in with.
  static func ann() throws -> Credentials { Credentials(email: "ann@example.com", password: try secret("made-up")) }
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
