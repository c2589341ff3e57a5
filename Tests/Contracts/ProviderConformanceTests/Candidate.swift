import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import TestServers

@testable import FirebaseProvider
@testable import LocalProvider
@testable import OIDCProvider
@testable import RESTProvider

/// One provider that the suite is run on, with an account, and the means to make its server go wrong.
struct Candidate: Sendable {
  /// The provider under test.
  var provider: any AuthProvider
  /// What an account of it logs in with.
  var credentials: Credentials
  /// Ends every session of the account, as an administrator would.
  var endSessions: @Sendable () async throws -> Void
  /// Lets the server do something wrong with the next refresh; nil where there is no server.
  var spoilRefresh: (@Sendable (Spoiling) async throws -> Void)?
  /// Whether a refresh token is worth nothing once it was used.
  var rotates = true
  /// Whether a session can be ended at the provider.
  var revokes = true
  /// The same provider at an address where nobody listens; nil where there is no address.
  var unreachable: (any AuthProvider)?

  /// What a server does wrong.
  enum Spoiling: Sendable, CaseIterable {
    /// It does as asked, and the reply is lost.
    case loseReply
    /// It is not well.
    case unavailable
    /// Somebody on the way answers in its place.
    case captivePortal
  }

  /// The kinds of provider that there are.
  enum Kind: String, Sendable, CaseIterable {
    case local, rest, oidc, firebase

    /// Those that have a server.
    static let remote: [Kind] = [.rest, .oidc, .firebase]
    /// Those whose refresh tokens are worth nothing once they were used.
    static let rotating: [Kind] = [.local, .rest, .oidc]
  }

  /// Runs a test on a candidate of its own.
  static func run(_ kind: Kind, _ body: (Candidate) async throws -> Void) async throws {
    switch kind {
    case .local: try await runLocal(body)
    case .rest: try await runREST(body)
    case .oidc: try await runOIDC(body)
    case .firebase: try await runFirebase(body)
    }
  }
}
