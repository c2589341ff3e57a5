import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory

/// Sends the requests of a project, each with its API key and none with an `Authorization` field: the services want tokens
/// in the body.
struct FirebaseCaller: Sendable {
  /// Sends them.
  let transport: PublicTransport
  /// The time.
  let clock: FirebaseProvider.Clock
  private let keyReference: SecretReference
  private let secrets: SecretFinder
  private let urls: [FirebaseCall: HTTPURL]
  /// The addresses at which sessions and accounts are made, changed and ended.
  let tokenAddresses: [TargetAddress]

  /// A key has 39 characters; more than a field holds is none.
  private static let longestKey = 512

  /// A caller as a configuration wants it.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  init(
    _ configuration: FirebaseProfileConfiguration, _ client: HTTPClient, _ secrets: @escaping SecretFinder,
    _ clock: @escaping FirebaseProvider.Clock
  ) throws(HTTPFailure) {
    transport = PublicTransport(client, policy: configuration.tls)
    keyReference = configuration.apiKey
    self.secrets = secrets
    self.clock = clock
    var urls: [FirebaseCall: HTTPURL] = [:]
    for call in FirebaseCall.allCases { urls[call] = try call.url(configuration.baseURL) }
    self.urls = urls
    tokenAddresses = FirebaseCall.allCases.filter { $0 != .lookup }.compactMap { urls[$0]?.address }
  }

  /// The project's key, or why it cannot be read.
  func apiKey() async -> Result<Secret, ProviderFailure> { await secrets(keyReference) }

  /// The address of a call.
  func url(_ call: FirebaseCall) -> HTTPURL {
    // `init` has gone through all cases, or thrown.
    guard let url = urls[call] else { preconditionFailure("Every call has an address.") }
    return url
  }

  /// Sends one request and waits for the answer.
  ///
  /// It is sent a second time only where no connection was made for the first one, so that no byte of it has left; what
  /// only reads (`lookup`) also where the connection was lost.
  ///
  /// - Throws: `ProviderFailure` for a missing response, and what the source of the key says.
  func ask(_ call: FirebaseCall, _ fields: [(String, FirebaseFields.Value)]) async throws(ProviderFailure)
    -> FirebaseReply
  {
    let key = try await key()
    do throws(HTTPFailure) {
      let carriesToken = fields.contains { $0.0 == "idToken" }
      let fields = FirebaseFields(fields)
      let deadline: HTTPRequest.Deadline = call == .token ? .refresh : .interactive
      var request = HTTPRequest(
        .post, url(call),
        fields: [try HTTPField("Accept", "application/json"), try HTTPField("X-Goog-Api-Key", key)],
        body: call == .token ? try fields.form(for: deadline) : try fields.json(for: deadline), deadline: deadline,
        purpose: "\(call)")
      request.isWhole = ReplyObject.isWhole
      do throws(HTTPFailure) {
        return try await send(request, call, carriesToken)
      } catch  where Self.isWorthAnotherTry(error, call) {
        return try await send(request, call, carriesToken)
      }
    } catch {
      throw ProviderFailure(error)
    }
  }

  private func send(
    _ request: HTTPRequest, _ call: FirebaseCall, _ carriesToken: Bool
  ) async throws(HTTPFailure) -> FirebaseReply {
    let sentAt = clock()
    let response = try await transport.send(request)
    return FirebaseReply(call, carriesToken: carriesToken, response, sentAt: sentAt, receivedAt: clock())
  }

  private static func isWorthAnotherTry(_ failure: HTTPFailure, _ call: FirebaseCall) -> Bool {
    switch failure {
    case .nameNotResolved, .connectFailed, .connectionLost(false): true
    case .connectionLost(true): call == .lookup
    default: false
    }
  }

  /// The key as a field holds it.
  ///
  /// It names the project and opens nothing (firebase.google.com/docs/projects/api-keys), so it need not be wiped; in a
  /// URL it would still end up in the logs of proxies.
  private func key() async throws(ProviderFailure) -> String {
    let secret = try await apiKey().get()
    let isKey = secret.withBytes { bytes in
      (1...Self.longestKey).contains(bytes.count) && bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
    }
    guard isKey else {
      let reason = "it is no API key, which has letters, digits and signs alone"
      throw .credentialMissing(MissingCredential(keyReference.name, reason, kind: .configInvalid))
    }
    return secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }
}
