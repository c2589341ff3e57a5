import ConfigurationFile
import HTTP
import TextCoding

/// The parameters that a profile adds to the requests of its logins and tokens (RFC 6749, section 8.2), never in place
/// of what the broker sets itself.
package struct OIDCParameters: Sendable, Equatable {
  /// A field of a request.
  package typealias Parameter = OIDCQuirks.Parameter

  /// Of the address at which a browser login begins.
  package var authorization: [Parameter] = []
  /// Of every request at the token endpoint.
  package var token: [Parameter] = []
  /// Of the request for a code of another device.
  package var device: [Parameter] = []

  /// Nothing more.
  package init() {}

  /// Reads the three sections of a profile.
  init(_ section: inout ConfigurationSection) {
    authorization = section.section("authorizationParameters").parameters(besides: Self.atAuthorization)
    token = section.section("tokenParameters").parameters(besides: Self.atToken)
    device = section.section("deviceParameters").parameters(besides: Self.client + Self.targets)
  }

  /// The parameters added to a form.
  func fields(for purpose: OAuthPurpose) -> TokenCaller.Form {
    let parameters =
      switch purpose {
      case .deviceAuthorization: device
      case .challenge, .pushedAuthorization, .revocation: [Parameter]()
      default: token
      }
    return parameters.map { ($0.name, .text($0.value)) }
  }

  private static let client = ["client_id", "client_secret", "client_assertion", "client_assertion_type"]
  private static let targets = ["scope", "audience", "resource"]

  /// The parameters of RFC 6749, section 4.1.1, and RFC 7636, section 4.3; that of RFC 9449, section 10; and those of
  /// RFC 9101, section 5, since a request object would replace all others.
  private static let atAuthorization =
    client + targets + [
      "response_type", "response_mode", "redirect_uri", "state", "nonce", "code_challenge", "code_challenge_method",
      "dpop_jkt", "request", "request_uri",
    ]

  /// The parameters of RFC 6749, RFC 7521, RFC 7636, RFC 8628 and RFC 8693, and Auth0's for a second factor.
  private static let atToken =
    client + targets + [
      "grant_type", "code", "code_verifier", "redirect_uri", "refresh_token", "username", "password", "device_code",
      "assertion", "subject_token", "subject_token_type", "actor_token", "actor_token_type", "mfa_token", "oob_code",
      "binding_code", "otp", "recovery_code",
    ]
}

extension ConfigurationSection {
  /// More than any provider has; an address must stay one that browsers take.
  private static let mostParameters = 32
  private static let longestParameter = 1024

  /// The keys of a profile that stand for a parameter.
  private static let ownKeys = [
    "client_id": "clientId", "client_secret": "clientSecret", "redirect_uri": "redirectUri", "scope": "scopes",
    "audience": "audience", "resource": "resource",
  ]

  /// The members, each a parameter of a request.
  ///
  /// - Parameter reserved: what the broker sets itself.
  /// - Returns: those that can be sent; every other one is a mistake.
  fileprivate func parameters(besides reserved: [String]) -> [OIDCQuirks.Parameter] {
    var parameters: [OIDCQuirks.Parameter] = []
    for (name, node) in namedMembers() {
      guard (1...128).contains(name.utf8.count), PercentEncoding.encoded(name) == name else {
        report(nameOf: node, name, "is no parameter's name", "use 1 to 128 letters, digits and -._~")
        continue
      }
      guard !reserved.contains(name) else {
        let key = Self.ownKeys[name].map { "write \($0) of the profile" }
        report(nameOf: node, name, "is set by the broker itself", key ?? "remove it")
        continue
      }
      guard let value = expandedString(name) else { continue }
      guard value.utf8.count <= Self.longestParameter, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        report(name, "must be at most \(Self.longestParameter) bytes, without control characters")
        continue
      }
      parameters.append(OIDCQuirks.Parameter(name, value))
    }
    if parameters.count > Self.mostParameters, let (name, _) = namedMembers().last {
      report(name, "is one of more than \(Self.mostParameters) parameters")
    }
    return parameters
  }
}
