import HTTP
import JSON
import ProviderKit

/// The metadata of a provider as it is, for people who look why something does not work.
///
/// Unlike ``ProviderMetadata`` it is not used to call anything, so it takes any document.
struct ProviderDescription: Sendable, Equatable {
  /// The issuer, sanitised; nil where there is none.
  var issuer: String?
  /// Whether the issuer is shown as the document writes it.
  var isIssuerWhole = true
  /// The endpoints in the metadata; sanitised.
  var endpoints: [OIDCEndpoint: String] = [:]
  /// The lists of supported features, by the document's own names; nil where it has none.
  private var lists: [Feature: Set<String>] = [:]
  /// Whether it names itself when it sends a browser back (RFC 9207, section 3).
  var namesIssuer = false

  /// A list in the metadata (OpenID Connect Discovery, section 3; RFC 8414, section 2).
  enum Feature: String, CaseIterable {
    case challengeMethods = "code_challenge_methods_supported"
    case grants = "grant_types_supported"
    case clientAuthentications = "token_endpoint_auth_methods_supported"
    case scopes = "scopes_supported"
    case responseTypes = "response_types_supported"
    case proofAlgorithms = "dpop_signing_alg_values_supported"
  }

  private static let limits = JSONLimits(depth: 16, byteCount: 1 << 20)
  /// More entries than any real list has.
  private static let mostEntries = 512

  /// A document that says nothing.
  init() {}

  /// Reads a document; nil for what is no JSON object.
  init?(_ bytes: [UInt8]) {
    guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root, root.kind == .object else {
      return nil
    }
    if let text = root["issuer"].flatMap({ try? $0.string() }).map({ SanitizedText($0) }) {
      issuer = text.text
      isIssuerWhole = text.isUnchanged
    }
    for endpoint in OIDCEndpoint.allCases {
      endpoints[endpoint] = root[endpoint.metadataName].flatMap { try? $0.string() }.map { SanitizedText($0).text }
    }
    for feature in Feature.allCases {
      guard let entries = try? root[feature.rawValue]?.elements() else { continue }
      lists[feature] = Set(entries.prefix(Self.mostEntries).compactMap { try? $0.string() })
    }
    namesIssuer = root["authorization_response_iss_parameter_supported"]?.kind == .true
  }

  /// The values of a list; nil where the metadata has none.
  subscript(feature: Feature) -> Set<String>? { lists[feature] }

  /// Whether it describes the configured issuer.
  func isOwn(_ dialect: OIDCDialect) -> Bool {
    guard isIssuerWhole, let issuer else { return false }
    return IssuerCheck(dialect).isOwn(metadata: issuer)
  }

  /// The members of this document, completed by those of another one where it has none.
  func completed(by other: ProviderDescription) -> ProviderDescription {
    var whole = self
    whole.endpoints.merge(other.endpoints) { mine, _ in mine }
    whole.lists.merge(other.lists) { mine, _ in mine }
    whole.namesIssuer = namesIssuer || other.namesIssuer
    return whole
  }
}
