/// How a REST backend is spoken to: its paths, the names of what is sent and answered, and its habits.
///
/// The standard mapping is that of a backend below `/auth/…`; a configuration says only where another differs.
package struct RESTMapping: Sendable, Equatable {
  /// How a request's body is written.
  package enum Encoding: String, Sendable, CaseIterable {
    /// A JSON object (RFC 8259).
    case json
    /// `application/x-www-form-urlencoded` (RFC 6749, appendix B).
    case form
  }

  /// How the client itself is made known, beside the user (RFC 6749, section 2.3.1).
  package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// Not at all.
    case none
    /// By HTTP Basic, id and secret form-encoded first.
    case basic
    /// By `client_id` and `client_secret` in the body.
    case post
  }

  /// How another code is had.
  package enum ResendStrategy: String, Sendable, CaseIterable {
    /// The endpoint `resendOtp` sends one.
    case endpoint
    /// The login is sent again; its credentials are kept in locked memory for as long as the challenge lives.
    case restartLogin
    /// Not at all.
    case none
  }

  /// How a session is ended at the backend.
  package enum RevokeStyle: String, Sendable, CaseIterable {
    /// The refresh token in the body says which session is meant.
    case body
    /// The access token in the header says so.
    case bearer
    /// A token and what it is, as a form (RFC 7009, section 2.1).
    case rfc7009
  }

  /// How bodies are written, unless an endpoint says otherwise.
  package var encoding: Encoding
  /// How the client is made known.
  package var clientAuthentication: ClientAuthentication
  /// What there is to call; what is missing, the backend cannot do.
  package var endpoints: [RESTEndpoint.Name: RESTEndpoint]
  /// Where everything is in a reply.
  package var reply: RESTReplyPaths
  /// What refusals mean.
  package var errors: RESTErrorMapping
  /// How another code is had.
  package var resendStrategy: ResendStrategy
  /// How a session is ended.
  package var revokeStyle: RevokeStyle

  /// A backend below `/auth/…`, in each of the three shapes of token replies.
  package static let standard = RESTMapping()

  private init() {
    encoding = .json
    clientAuthentication = .none
    endpoints = Dictionary(uniqueKeysWithValues: RESTEndpoint.Name.allCases.map { ($0, .standard($0)) })
    reply = RESTReplyPaths()
    errors = RESTErrorMapping()
    resendStrategy = .endpoint
    revokeStyle = .body
  }
}
