/// How far a login came at the provider.
package enum LoginOutcome: Sendable {
  /// A session exists.
  case authenticated(ProviderSession)
  /// A one-time code is wanted.
  case otpRequired(ProviderChallenge)
  /// The user has to do something elsewhere.
  case userActionRequired(ProviderUserAction)
  /// The e-mail address must be verified first.
  case emailVerificationRequired
}
