import HTTP
import JSON

/// The features that an authorization server announces (RFC 8414, section 2), as far as a client that finds everything by
/// itself depends on them.
struct ServerFeatures: Sendable, Equatable {
  /// The methods of the proof of a code (RFC 7636); nil where it names none.
  var challengeMethods: [String]?
  /// The client authentications at the token endpoint; nil where it names none.
  var clientAuthentications: [String]?
  /// The scopes; nil where it names none.
  var scopes: [String]?
  /// The grants; nil where it names none.
  var grants: [String]?
  /// The address of the client registration (RFC 7591, section 3); nil where there is none.
  var registration: HTTPURL?
  /// Whether a client may be known by the address of a document (OAuth Client ID Metadata Document).
  var takesClientDocuments = false

  /// More entries than any list has.
  private static let mostEntries = 512

  /// A server that announces nothing.
  init() {}

  /// Reads the members of a document; what is none of the right form counts as missing.
  ///
  /// - Parameters:
  ///   - root: the document.
  ///   - isSecure: whether the issuer is not spoken to in the clear.
  init(_ root: JSONNode, isSecure: Bool) {
    challengeMethods = Self.strings(root["code_challenge_methods_supported"])
    clientAuthentications = Self.strings(root["token_endpoint_auth_methods_supported"])
    scopes = Self.strings(root["scopes_supported"])
    grants = Self.strings(root["grant_types_supported"])
    takesClientDocuments = root["client_id_metadata_document_supported"]?.kind == .true
    guard let text = root["registration_endpoint"].flatMap({ try? $0.string() }), let url = try? HTTPURL(text),
      url.scheme == .https || !isSecure
    else { return }
    registration = url
  }

  private static func strings(_ node: JSONNode?) -> [String]? {
    (try? node?.elements())?.prefix(mostEntries).compactMap { try? $0.string() }
  }

  /// The features of this document, completed by those of another one where it names none.
  func completed(by other: ServerFeatures) -> ServerFeatures {
    var whole = self
    whole.challengeMethods = challengeMethods ?? other.challengeMethods
    whole.clientAuthentications = clientAuthentications ?? other.clientAuthentications
    whole.scopes = scopes ?? other.scopes
    whole.grants = grants ?? other.grants
    whole.registration = registration ?? other.registration
    whole.takesClientDocuments = takesClientDocuments || other.takesClientDocuments
    return whole
  }

  /// Whether a code can be protected by a proof (RFC 7636, section 4.2).
  var takesProof: Bool { challengeMethods?.contains(CodeChallenge.method) == true }
}
