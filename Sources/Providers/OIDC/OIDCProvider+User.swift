package import BrokerCore
package import BrokerProtocol
import HTTP
import JSON
import ProviderKit

/// The user of a session.
extension OIDCProvider: UserInfoProvider {
  /// The members that identify the user: in malformed JSON they must be sound and unambiguous.
  private static let vital = VitalMembers([["sub"], ["id"]])

  /// Tells whose session it is (OpenID Connect Core, section 5.3).
  ///
  /// - Throws: `.tokenRefused` for an access token that is not accepted; `.refused` with `insufficientScope` or
  ///   `invalidResponse`; `.unsupported` where the provider has no such endpoint; `.transient`.
  package func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    guard let url = try await discovery.sessionEndpoint(.userinfo) else { throw .unsupported }
    let request: HTTPRequest
    do throws(HTTPFailure) {
      request = HTTPRequest(.get, url, fields: [try HTTPField("Accept", "application/json")], purpose: "user")
    } catch { throw .transient(ErrorKind(error)) }
    let response = try await present(accessToken, request)
    switch response.status {
    case 200: break
    case 401: throw .tokenRefused
    case 403: throw .refused(.insufficientScope)
    case 407, 511: throw .transient(.networkUnavailable)
    case 408, 425, 429, 500...:
      throw .transient(.providerUnavailable, retryAfter: response.retryAfter(now: clock().milliseconds / 1000))
    case 300..<400: throw .transient(.invalidResponse)
    default: throw .refused(.providerRejected)
    }
    let reader = UserReader(quirks: dialect.quirks)
    let user = response.body.withArray { bytes in
      ReplyObject.withRoot(of: bytes, Self.vital) { reader.user($0) }
    }
    guard let user else { throw .refused(.invalidResponse) }
    return user
  }
}
