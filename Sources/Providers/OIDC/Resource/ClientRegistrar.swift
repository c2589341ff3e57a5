import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// Registers the broker as a client of an authorization server (RFC 7591).
struct ClientRegistrar: Sendable {
  /// Sends the request, which has no credential.
  let transport: PublicTransport
  /// The issuer.
  let issuer: String
  /// The features that it announces.
  let features: ServerFeatures
  /// The redirect addresses to register.
  let redirects: [String]
  /// The time.
  let clock: OIDCProvider.Clock

  private static let vital = VitalMembers([["client_id"], ["client_secret"]])
  private static let longestID = 1024

  /// The client authentication to ask for: none where the server does not say that it wants another one, else the first
  /// that it names.
  ///
  /// - Returns: nil where the server takes none that a registration can have.
  var wantedAuthentication: RegisteredClient.Authentication? {
    guard let offered = features.clientAuthentications else { return RegisteredClient.Authentication.none }
    let known = offered.compactMap { RegisteredClient.Authentication(rawValue: $0) }
    return known.contains(.none) ? RegisteredClient.Authentication.none : known.first
  }

  /// Registers a client.
  ///
  /// - Returns: the client.
  /// - Throws: `.misconfigured(.unregistered)` where the server registers none, or refuses this one; `.transient` for what
  ///   passes.
  func register() async throws(ProviderFailure) -> RegisteredClient {
    guard let url = features.registration, let wanted = wantedAuthentication else {
      throw .misconfigured(.unregistered)
    }
    let response: HTTPResponse
    do throws(HTTPFailure) { response = try await transport.send(try request(url, wanted)) } catch {
      // A client that was made all the same is never used.
      throw .transient(ErrorKind(error))
    }
    switch response.status {
    case 200, 201: break
    case 407, 511: throw .transient(.networkUnavailable)
    case 408, 425, 429, 500...:
      throw .transient(.providerUnavailable, retryAfter: response.retryAfter(now: clock().milliseconds / 1000))
    default: throw .misconfigured(.unregistered)
    }
    return try await client(response, wanted)
  }

  private func request(
    _ url: HTTPURL, _ wanted: RegisteredClient.Authentication
  ) throws(HTTPFailure) -> HTTPRequest {
    var metadata = ClientMetadata(redirects: redirects)
    metadata.authentication = wanted.rawValue
    var writer = JSONWriter()
    writer.object { metadata.write(to: &$0) }
    return HTTPRequest(
      .post, url, fields: [try HTTPField("Accept", "application/json")],
      body: try .json(wiping: &writer.bytes, for: .interactive), purpose: "registration")
  }

  /// The client that the server has made: its word on the authentication counts (RFC 7591, section 3.2.1).
  private func client(
    _ response: HTTPResponse, _ wanted: RegisteredClient.Authentication
  ) async throws(ProviderFailure) -> RegisteredClient {
    let found = try await SecretArena.withRoomForReply(patience: ProviderFailure.interactivePatience) {
      () throws(SecretMemoryExhausted) in
      try response.body.withArray { bytes throws(SecretMemoryExhausted) in
        try ReplyObject.withRoot(of: bytes, Self.vital) { root throws(SecretMemoryExhausted) in
          try client(root, wanted)
        }
      }
    }
    guard let found else { throw .rejected(ProviderRejection(.invalidResponse)) }
    return found
  }

  private func client(
    _ root: JSONNode, _ wanted: RegisteredClient.Authentication
  ) throws(SecretMemoryExhausted) -> RegisteredClient? {
    guard let id = root["client_id"].flatMap({ try? $0.string() }), (1...Self.longestID).contains(id.utf8.count),
      id.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    var secret: Secret?
    if let node = root["client_secret"], !node.isNull { secret = try node.foundSecret() }
    let said = root["token_endpoint_auth_method"].flatMap { try? $0.string() }
    let known = said.flatMap(RegisteredClient.Authentication.init(rawValue:))
    let authentication = secret == nil ? .none : known ?? (wanted == .none ? .basic : wanted)
    let end = root["client_secret_expires_at"].flatMap { try? $0.integer() } ?? 0
    return RegisteredClient(
      issuer: issuer, id: id, authentication: authentication, secret: authentication == .none ? nil : secret,
      secretExpiresAt: secret == nil || end <= 0 ? nil : Timestamp(milliseconds: Int64(end) * 1000),
      redirects: redirects, registeredAt: clock())
  }
}
