/// The mapping of a REST backend: its paths, the names of what is sent and answered, and its habits.
///
/// The standard mapping is that of a backend below `/auth/…`; a configuration says only where another differs.
package struct RESTMapping: Sendable, Equatable {
  /// The encoding of a request's body.
  package enum Encoding: String, Sendable, CaseIterable {
    /// A JSON object (RFC 8259).
    case json
    /// `application/x-www-form-urlencoded` (RFC 6749, appendix B).
    case form
  }

  /// The client authentication, beside the user's (RFC 6749, section 2.3.1).
  package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// Not at all.
    case none
    /// By HTTP Basic, id and secret form-encoded first.
    case basic
    /// By `client_id` and `client_secret` in the body.
    case post
  }

  /// The way to get another code.
  package enum ResendStrategy: String, Sendable, CaseIterable {
    /// The endpoint `resendOtp` sends one.
    case endpoint
    /// The login is sent again; its credentials are kept in locked memory for as long as the challenge lives.
    case restartLogin
    /// Not at all.
    case none
  }

  /// The way to end a session at the backend.
  package enum RevokeStyle: String, Sendable, CaseIterable {
    /// The refresh token in the body says which session is meant.
    case body
    /// The access token in the header says so.
    case bearer
    /// A token and what it is, as a form (RFC 7009, section 2.1).
    case rfc7009
  }

  /// The encoding of bodies, unless an endpoint says otherwise.
  package var encoding: Encoding
  /// The client authentication.
  package var clientAuthentication: ClientAuthentication
  /// The endpoints; without one, the backend lacks the ability.
  package var endpoints: [RESTEndpoint.Name: RESTEndpoint]
  /// The paths of all members of a reply.
  package var reply: RESTReplyPaths
  /// The meanings of refusals.
  package var errors: RESTErrorMapping
  /// The way to get another code.
  package var resendStrategy: ResendStrategy
  /// The way to end a session.
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
