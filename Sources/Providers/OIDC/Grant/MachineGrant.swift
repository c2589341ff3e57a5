package import BrokerProtocol
import ConfigurationFile
import TextCoding

/// A grant by which a profile's tokens are requested without a login.
package enum MachineGrant: Sendable, Equatable {
  /// The client's own (RFC 6749, section 4.4).
  case clientCredentials
  /// An assertion of another party (RFC 7523, section 2.1).
  case jwtBearer(TokenSource)
  /// Other tokens (RFC 8693).
  case exchange(TokenExchange)

  /// Its name in the configuration.
  package enum Name: String, Sendable, CaseIterable {
    case clientCredentials, jwtBearer, exchange
  }

  /// Its name in the configuration.
  package var name: Name {
    switch self {
    case .clientCredentials: .clientCredentials
    case .jwtBearer: .jwtBearer
    case .exchange: .exchange
    }
  }

  /// Its name in requests.
  var grantType: String {
    switch self {
    case .clientCredentials: "client_credentials"
    case .jwtBearer: "urn:ietf:params:oauth:grant-type:jwt-bearer"
    case .exchange: "urn:ietf:params:oauth:grant-type:token-exchange"
    }
  }

  /// The sources of the tokens that a request shows, the subject first.
  var sources: [TokenSource] {
    switch self {
    case .clientCredentials: []
    case .jwtBearer(let source): [source]
    case .exchange(let exchange): [exchange.subject] + (exchange.actor.map { [$0] } ?? [])
    }
  }

  /// All that tells its tokens from those of another request at the same provider, as a word without spaces.
  func mark(_ dialect: OIDCDialect) -> String {
    var parts = [name.rawValue] + sources.map(\.mark)
    if case .exchange(let exchange) = self {
      parts += [exchange.subjectType, exchange.actorType, exchange.requestedType ?? ""]
    }
    parts += [dialect.audience ?? "", dialect.resource ?? ""] + dialect.scopes
    return parts.map { PercentEncoding.encoded($0, keeping: ":/") }.joined(separator: ",")
  }
}

/// The source of a token that a request shows.
package enum TokenSource: Sendable, Equatable {
  /// The session of another profile: its access token, or its ID token.
  case profile(ProfileName, isIDToken: Bool)
  /// A file, a program, or GitHub Actions.
  case assertion(AssertionSource)

  /// The other profile; nil for another source.
  package var profile: ProfileName? { if case .profile(let name, _) = self { name } else { nil } }

  /// All that tells it from another source.
  fileprivate var mark: String {
    switch self {
    case .profile(let name, let isIDToken): "from \(name)\(isIDToken ? " id" : "")"
    case .assertion(.gitHubActions(let audience, _)): "github \(audience ?? "")"
    case .assertion(.reference(let reference)): reference.place.mark
    }
  }
}

extension SecretReference.Place {
  /// All that tells it from another place.
  fileprivate var mark: String {
    switch self {
    case .file(let path): "file \(path)"
    case .environment(let name): "env \(name)"
    case .command(let command): "command \(command.joined(separator: " "))"
    }
  }
}

/// A token exchange (RFC 8693, section 2.1).
package struct TokenExchange: Sendable, Equatable {
  /// The types of tokens (section 3).
  package enum TokenType {
    /// An access token.
    package static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
    /// An ID token.
    package static let idToken = "urn:ietf:params:oauth:token-type:id_token"
    /// A JWT of any other kind.
    package static let jwt = "urn:ietf:params:oauth:token-type:jwt"
  }

  /// The token on whose behalf the request is made.
  package var subject: TokenSource
  /// Its type.
  package var subjectType: String
  /// The token of the one who acts; nil for none.
  package var actor: TokenSource?
  /// Its type.
  package var actorType: String
  /// The type of the token that is wanted; nil for the server's choice.
  package var requestedType: String?

  /// An exchange.
  package init(
    subject: TokenSource, subjectType: String = TokenType.accessToken, actor: TokenSource? = nil,
    actorType: String = TokenType.accessToken, requestedType: String? = nil
  ) {
    self.subject = subject
    self.subjectType = subjectType
    self.actor = actor
    self.actorType = actorType
    self.requestedType = requestedType
  }
}
