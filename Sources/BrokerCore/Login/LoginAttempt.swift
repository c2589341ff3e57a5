import BrokerProtocol
import SecretMemory

/// A login that its provider has not answered yet, and everybody who waits for it.
struct LoginAttempt {
  /// What a login is made with; equal logins share one call of the provider.
  struct Credentials: Equatable {
    private let profile: ProfileName
    private let email: String?
    private let password: Secret?
    private let phoneNumber: String?
    private let scopes: [String]?

    /// The credentials of a request on a profile.
    init(_ params: Login.Params, _ profile: ProfileName) {
      self.profile = profile
      email = params.email
      password = params.password
      phoneNumber = params.phoneNumber
      scopes = params.scopes
    }
  }

  /// Names the attempt.
  let id: UInt64
  /// The stay of the profile that it was begun for.
  let slot: UInt64
  /// How many logouts the profile had seen: one more, and the attempt is void.
  let logouts: UInt64
  /// The profile.
  let profile: ProfileName
  /// What it is made with; nil for what is not shared.
  let credentials: Credentials?
  /// Who waits for the answer.
  var replies: [Broker.Reply<LoginResult>]
}
