import HTTP
import JSON
import ProviderKit

/// The metadata of a provider (OpenID Connect Discovery, section 3; RFC 8414, section 2).
struct ProviderMetadata: Sendable, Equatable {
  /// The endpoints.
  var endpoints: [OIDCEndpoint: HTTPURL] = [:]
  /// Whether it names itself when it sends a browser back (RFC 9207, section 3).
  var namesIssuer = false
  /// The endpoint that takes the parameters of an authorization request (RFC 9126); nil where there is none.
  var pushedAuthorization: HTTPURL?
  /// Whether it takes them there alone (RFC 9126, section 5).
  var requiresPushing = false
  /// The issuer, as the document writes it.
  var issuer = ""
  /// The other features that it announces.
  var features = ServerFeatures()

  private static let flag = "authorization_response_iss_parameter_supported"
  /// The members that are used: in malformed JSON they must be sound and unambiguous.
  private static let vital = VitalMembers(
    (OIDCEndpoint.allCases.map(\.metadataName) + ["issuer", flag, pushing, mustPush]).map { [$0] })
  private static let pushing = "pushed_authorization_request_endpoint"
  private static let mustPush = "require_pushed_authorization_requests"

  /// Why a document is not taken.
  enum Refusal: Error, Equatable {
    /// It describes no provider: the server there is none.
    case malformed
    /// It describes another provider (OpenID Connect Discovery, section 4.3; RFC 8414, section 3.3).
    case otherIssuer
  }

  /// A provider that says nothing of itself.
  init() {}

  /// Reads a document.
  ///
  /// An endpoint that cannot be called, or would be called in the clear although the issuer is not, counts as missing.
  init(_ bytes: [UInt8], of dialect: OIDCDialect) throws(Refusal) {
    let found = ReplyObject.withRoot(of: bytes, Self.vital) { root -> Result<Self, Refusal>? in
      Result { () throws(Refusal) in try Self(root, of: dialect) }
    }
    guard let found else { throw .malformed }
    self = try found.get()
  }

  private init(_ root: JSONNode, of dialect: OIDCDialect) throws(Refusal) {
    guard let issuer = root["issuer"].flatMap({ try? $0.string() }) else { throw .malformed }
    guard IssuerCheck(dialect).isOwn(metadata: issuer) else {
      throw Self.describesProvider(root, issuer) ? .otherIssuer : .malformed
    }
    self.issuer = issuer
    namesIssuer = root[Self.flag]?.kind == .true || ReplyObject.isUnsound(root[Self.flag])
    let isSecure = dialect.issuer.lowercased().hasPrefix("https:")
    features = ServerFeatures(root, isSecure: isSecure)
    for endpoint in OIDCEndpoint.allCases {
      endpoints[endpoint] = Self.address(endpoint.metadataName, root, isSecure: isSecure)
    }
    pushedAuthorization = Self.address(Self.pushing, root, isSecure: isSecure)
    requiresPushing = root[Self.mustPush]?.kind == .true
  }

  private static func address(_ name: String, _ root: JSONNode, isSecure: Bool) -> HTTPURL? {
    guard let text = root[name].flatMap({ try? $0.string() }), let url = try? HTTPURL(text) else { return nil }
    return url.scheme == .https || !isSecure ? url : nil
  }

  /// Whether a document has the minimum of metadata: an issuer and an endpoint that are addresses.
  ///
  /// A captive portal that answers with JSON has neither.
  private static func describesProvider(_ root: JSONNode, _ issuer: String) -> Bool {
    func isAddress(_ text: String) -> Bool {
      let text = text.prefix(8).lowercased()
      return text.hasPrefix("https://") || text.hasPrefix("http://")
    }
    return isAddress(issuer)
      && OIDCEndpoint.allCases.contains { endpoint in
        root[endpoint.metadataName].flatMap { try? $0.string() }.map(isAddress) ?? false
      }
  }

  /// The members of this document, completed by those of another one where it has none.
  func completed(by other: ProviderMetadata) -> ProviderMetadata {
    var whole = self
    whole.endpoints.merge(other.endpoints) { mine, _ in mine }
    whole.namesIssuer = namesIssuer || other.namesIssuer
    whole.features = features.completed(by: other.features)
    whole.pushedAuthorization = pushedAuthorization ?? other.pushedAuthorization
    whole.requiresPushing = requiresPushing || other.requiresPushing
    return whole
  }
}
