import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TextCoding

/// The request that begins a login in a browser (RFC 6749, section 4.1.1).
extension OIDCProvider {
  /// The longest reference to a pushed request that is passed on.
  private static let longestReference = 2048

  /// The parameters, for a user where one is named (OpenID Connect Core, section 3.1.2.1, `login_hint`), with what a server
  /// has demanded of the login (RFC 9470, section 4).
  func fields(of flow: RedirectFlow, for email: String?, _ stepUp: StepUp?) -> [(name: String, value: String)] {
    var fields = [
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", flow.redirectURI), ("state", flow.state),
      ("code_challenge", CodeChallenge.of(flow.verifier)), ("code_challenge_method", CodeChallenge.method),
    ]
    if !flow.scopes.isEmpty { fields.append(("scope", flow.scopes.joined(separator: " "))) }
    if let nonce = flow.sentNonce { fields.append(("nonce", nonce)) }
    if let audience = dialect.audience { fields.append(("audience", audience)) }
    if let resource = dialect.resource { fields.append(("resource", resource)) }
    var own = email.map { [("login_hint", $0)] } ?? []
    if flow.wantsProof {
      own += [("prompt", "login"), ("max_age", "0")]
    } else if let age = stepUp?.maxAge {
      own.append(("max_age", "\(age)"))
    }
    if let values = stepUp?.acrValues, !values.isEmpty { own.append(("acr_values", values.joined(separator: " "))) }
    let added = dialect.parameters.authorization.filter { added in !own.contains { $0.0 == added.name } }
    let usual = dialect.quirks.authorizationParameters.filter { usual in
      !(own.map(\.0) + added.map(\.name)).contains(usual.name)
    }
    return (fields + own + (usual + added).map { ($0.name, $0.value) }).map { (name: $0.0, value: $0.1) }
  }

  /// The address with the parameters in its query.
  static func address(_ url: HTTPURL, _ fields: [(name: String, value: String)]) -> String {
    let parts = fields.map { PercentEncoding.encoded($0.name) + "=" + PercentEncoding.encoded($0.value) }
    return url.origin + url.target + (url.target.contains("?") ? "&" : "?") + parts.joined(separator: "&")
  }

  /// Sends the parameters to the provider itself, where the client shows who it is, and no browser can change them (RFC
  /// 9126, section 2).
  ///
  /// - Returns: the parameters that are left for the browser (section 4).
  /// - Throws: as ``ask(_:_:_:as:key:)``, and what the provider refuses.
  func pushed(
    _ fields: [(name: String, value: String)], to url: HTTPURL, _ key: ProofKey?
  ) async throws(ProviderFailure) -> [(name: String, value: String)] {
    // What the client shows has its name already, but for a password in the header.
    let form = fields.filter { $0.name != "client_id" || clientAuthentication == .basic }
    let reply = try await askProven(url, form.map { ($0.name, .text($0.value)) }, key)
    let reference = try await reply.read { reader throws(SecretMemoryExhausted) -> String? in
      reader.root["request_uri"].flatMap { try? $0.string() }
    }
    guard (1...Self.longestReference).contains(reference.utf8.count) else { throw .transient(.invalidResponse) }
    return [("client_id", clientID), ("request_uri", reference)]
  }

  /// Sends them with a proof, and without one to a server that takes none here (Glewlwyd 2.7 demands a nonce that it does not
  /// give): `dpop_jkt` among them binds the code all the same (RFC 9449, section 10.1).
  private func askProven(
    _ url: HTTPURL, _ form: TokenCaller.Form, _ key: ProofKey?
  ) async throws(ProviderFailure) -> OAuthReply {
    do throws(ProviderFailure) { return try await ask(.pushedAuthorization, url, form, key: key) } catch {
      guard key != nil, error == .misconfigured(.possession) else { throw error }
      return try await ask(.pushedAuthorization, url, form)
    }
  }
}
