import BrokerProtocol

/// The methods and tokens of a profile that a client may have: the lists of a rule, or of a limited socket.
package struct Allowance: Hashable, Sendable {
  /// The names of the methods; nil for all.
  package var methods: Set<String>?
  /// The scopes that a token may have; nil for any.
  package var scopes: [String]?
  /// The audiences that a token may be for; nil for any.
  package var audiences: [String]?
  /// Whether it may hold tokens, not only use them.
  package var mayHold: Bool
  /// How often the owner is asked before a token is given.
  package var confirmation: Confirmation

  /// The lists, each absent for everything.
  package init(
    methods: Set<String>? = nil, scopes: [String]? = nil, audiences: [String]? = nil, mayHold: Bool = true,
    confirmation: Confirmation = .never
  ) {
    (self.methods, self.scopes, self.audiences) = (methods, scopes, audiences)
    (self.mayHold, self.confirmation) = (mayHold, confirmation)
  }

  /// The methods that every client may call: they tell nothing of a profile that it is not shown.
  private static let common: Set<String> = [
    Initialize.name, Ping.name, Discover.name, Shutdown.name, Unsubscribe.name, Prove.name,
  ]
  /// The methods that give or spend a profile's tokens: rules hold for administrative connections, too.
  ///
  /// A proof is of use to who holds the token alone, and to give it to others would undo what binds that to a key.
  static let ofTokens: Set<String> = handingOut.union([
    ReportRejected.name, SendRequest.name, QueueRequest.name, OpenDoor.name,
  ])
  /// The methods of these that hand out what is worth something outside of the broker.
  static let handingOut: Set<String> = [GetAccessToken.name, GetIDToken.name, CreateProof.name]

  /// The methods that a rule can name, which are all that need no proof and are not for every client.
  package static let names: [String] = [
    GetAccessToken.name, ReportRejected.name, SendRequest.name, QueueRequest.name, ListRequests.name, GetRequest.name,
    CancelRequest.name, OpenDoor.name, CloseDoor.name, ListDoors.name,
    GetIDToken.name, CreateProof.name, Login.name, VerifyOTP.name, ResendOTP.name,
    Register.name, VerifyBackupCode.name, VerifyEmail.name, ForgotPassword.name, ResetPassword.name,
    ChangePassword.name, UpdateProfile.name, GenerateBackupCodes.name, DeleteAccount.name, AwaitLogin.name,
    CompleteLogin.name, CancelLogin.name, ListPendingLogins.name, Reauthenticate.name, Logout.name,
    GetCurrentUser.name, GetSession.name, ListSessions.name, ListTargets.name, Subscribe.name, GetStatus.name,
    Unlock.name, CheckProviders.name, CheckProvider.name,
  ]

  /// Whether every client may call a method.
  static func isCommon(_ method: String) -> Bool { common.contains(method) }

  /// Whether a method may be called; who may ask for a token may report that it was refused.
  func allows(_ method: String) -> Bool {
    guard let methods, !Self.isCommon(method) else { return true }
    return methods.contains(method) || method == ReportRejected.name && methods.contains(GetAccessToken.name)
  }

  /// Whether a method may be called and gives what it is called for: not a token to whom may only use it.
  package func gives(_ method: String) -> Bool {
    allows(method) && (mayHold || !Self.handingOut.contains(method))
  }

  /// Whether it allows the session's own token, whatever that is for, where it has the owner asked so often.
  func allowsEveryToken(confirmed confirmation: Confirmation) -> Bool {
    mayHold && self.confirmation == confirmation && scopes == nil && audiences == nil && allows(GetAccessToken.name)
  }

  /// The allowance of all that both allow.
  func intersection(_ other: Allowance) -> Allowance {
    Allowance(
      methods: Self.common(methods, other.methods) { $0.intersection($1) },
      scopes: Self.common(scopes, other.scopes) { one, two in one.filter(two.contains) },
      audiences: Self.common(audiences, other.audiences) { one, two in one.filter(two.contains) },
      mayHold: mayHold && other.mayHold, confirmation: max(confirmation, other.confirmation))
  }

  private static func common<List>(_ one: List?, _ other: List?, _ both: (List, List) -> List) -> List? {
    guard let one, let other else { return one ?? other }
    return both(one, other)
  }
}
