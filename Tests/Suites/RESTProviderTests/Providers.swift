import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import LinuxSystem
import ProviderKit
import SecretMemory
import TestServers
import TestSupport

@testable import RESTProvider

/// A provider on a backend, patient but for what a test says.
func withProvider(
  _ backend: Backend, mapping: RESTMapping = .standard, timeout: Duration = Patience.ceiling,
  tls: TLSPolicy = TLSPolicy(), clientID: String = "", clientSecret: String? = nil,
  secrets: SecretFinder? = nil,
  _ body: (RESTProvider) async throws -> Void
) async throws {
  let client = try HTTPClient(version: "test", proxy: .none, timeouts: .all(timeout))
  let secret = try clientSecret.map { try Secret(utf8: $0) }
  let finder = secrets ?? secret.map { secret in { @Sendable _ in .success(secret) } }
  let configuration = RESTProfileConfiguration(
    baseURL: backend.url, clientID: clientID,
    clientSecret: finder.map { _ in SecretReference("clientSecret", .environment("SECRET")) }, tls: tls,
    mapping: mapping)
  let result: Result<Void, any Error>
  do {
    let provider = try RESTProvider(configuration, client: client, secrets: finder ?? noSecret)
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

/// The account of the tests.
let ann = #"{"email":"ann@example.com","password":"made-up-password","name":"Ann"}"#
/// The account of the tests, with a second factor.
let annWithCode = """
  {"email":"ann@example.com","password":"made-up-password","name":"Ann","phoneNumber":"+15550100123",\
  "backupCodes":["aaaa-bbbb","cccc-dddd"]}
  """

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
