import BrokerProtocol
import TextCoding

/// The demands of a server on the next login, after it has refused a token (RFC 6750, section 3.1; RFC 9470, section 3).
package struct StepUp: Sendable, Equatable {
  /// The scopes of the session and those that the server wants.
  package var scopes: [String]
  /// The authentication context class references that it accepts; empty for any.
  package var acrValues: [String]
  /// How many seconds ago the user may have authenticated at most; nil for any time.
  package var maxAge: Int?
  /// Whether the user has to authenticate, whatever the scopes are.
  package let wantsUser: Bool

  /// As many as a challenge can have in practice.
  private static let mostValues = 16

  /// The demands that were written down.
  package init(scopes: [String], acrValues: [String], maxAge: Int?, wantsUser: Bool) {
    self.scopes = scopes
    self.acrValues = acrValues
    self.maxAge = maxAge
    self.wantsUser = wantsUser
  }

  /// Reads a challenge; nil where it wants nothing more than another token.
  ///
  /// - Parameters:
  ///   - challenge: the value of `WWW-Authenticate`.
  ///   - present: the scopes of the rejected token, which the next one keeps.
  /// - Throws: `invalidParams` where the scopes are none, or too many.
  init?(_ challenge: String, besides present: [String]) throws(BrokerError) {
    let found = BearerChallenge([challenge]) ?? BearerChallenge([challenge], scheme: "dpop")
    guard let parameters = found?.parameters else { return nil }
    func words(_ name: String) -> [String] { parameters[name]?.split(separator: " ").map(String.init) ?? [] }
    let wanted = words("scope")
    acrValues = Array(words("acr_values").filter { TokenTarget.isAudience($0) }.prefix(Self.mostValues))
    maxAge = parameters["max_age"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    switch parameters["error"] {
    case "insufficient_user_authentication": wantsUser = true
    case "insufficient_scope":
      // A server that asks for what the token has got refuses for another reason: no login would help.
      guard wanted.contains(where: { !present.contains($0) }) else { return nil }
      wantsUser = false
    default: return nil
    }
    scopes = []
    for scope in present + wanted where !scopes.contains(scope) { scopes.append(scope) }
    do throws(BrokerError) { _ = try TokenTarget.scopes(scopes) } catch {
      throw BrokerError(
        .invalidParams, "The scopes of the parameter /challenge are malformed, or too many.", pointer: "/challenge")
    }
  }

  /// The error for a caller whose token is a secret of the configuration: no login brings more.
  func errorOfSecret(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .insufficientScope,
      "The server wants more than the secret of this profile is allowed; allow it more where it was issued, or put another one "
        + "in its place.", profile: profile)
    error.nextAction = .fixConfig
    error.scopes = scopes.isEmpty ? nil : scopes
    return error
  }

  /// The error for a caller: the user has to log in.
  func error(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .reauthRequired,
      wantsUser
        ? "The server wants the user to authenticate again, or by other means; log in again."
        : "The server wants a token with more scopes, to which the user must consent; log in again.", profile: profile)
    error.nextAction = .login
    error.scopes = scopes.isEmpty ? nil : scopes
    error.acrValues = acrValues.isEmpty ? nil : acrValues
    error.maxAge = maxAge
    return error
  }
}
