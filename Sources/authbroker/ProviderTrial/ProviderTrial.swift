import AuthBrokerClient
import BrokerProtocol
import ClientSocket

/// What is tried at a provider, and what came of it.
struct ProviderTrial: ~Copyable {
  /// The steps that need an account, and what each shows.
  private static let steps = [
    ("login", "the password is accepted, and there is a session"),
    ("token", "the session has an access token, and the broker knows how long it lives"),
    ("refresh", "the provider gives another access token"), ("user", "the provider knows whose that one is"),
    ("logout", "the session is ended here, and at the provider if that can be done"),
  ]

  private let context: Context
  private let profile: ProfileName?
  private var connection: BlockingConnection
  private var reached: [DoctorFinding] = []
  private var tried: [DoctorFinding] = []

  /// A trial of a profile, on a connection to the broker.
  init(_ context: Context, _ profile: ProfileName?, _ connection: consuming BlockingConnection) {
    self.context = context
    self.profile = profile
    self.connection = connection
  }

  /// Everything that was found.
  var table: DoctorTable {
    DoctorTable(sections: [
      .init(title: "Connection", findings: reached),
      .init(title: context.arguments.has("--login") ? "Session" : "With --login", findings: tried),
    ])
  }

  /// Looks whether the broker reaches the provider; no credential is sent.
  mutating func reach() throws(CommandFailure) {
    reached = try context.call(CheckProviders.self, .init(profile: profile), on: &connection)
      .providers.map(ProviderCheck.finding)
  }

  /// Says what would be tried.
  mutating func announce() {
    tried = Self.steps.map { DoctorFinding("provider.\($0.0)", $0.0, .note, "would show that \($0.1)") }
  }

  /// Tries everything that needs an account; the first step that fails is the last but for the logout.
  ///
  /// - Throws: a failure before anything was sent: the profile has a session, or credentials are missing.
  mutating func logIn() throws(CommandFailure) {
    guard !reached.contains(where: { $0.status == .error }) else { return }
    let session = try context.call(GetSession.self, ProfileParams(profile: profile), on: &connection)
    guard session.state == .signedOut || session.state == .expired else {
      throw CommandFailure(
        .failure, "the profile \(session.profile) has a session, which this would end; first: authbroker logout")
    }
    let email = try Prompt.answer("--email", "E-mail address", context)
    let password = try PasswordSource.password(context)
    let result: LoginResult
    do throws(CommandFailure) {
      let login = Login.Params(profile: profile, email: email, password: password)
      result = try context.call(Login.self, login, on: &connection)
    } catch {
      note(.error, error.message, error.exitCode)
      return
    }
    guard isLoggedIn(result) else { return }
    do throws(CommandFailure) { try useSession() } catch { note(.error, error.message, error.exitCode) }
    logOut()
  }

  private mutating func isLoggedIn(_ result: LoginResult) -> Bool {
    switch result {
    case .authenticated(let session):
      note(.ok, "a session of \(PlainText.line((session.user?.email ?? session.userID ?? "somebody").utf8))")
      return true
    case .otpRequired(let challenge):
      cancel(.init(otpFlowID: challenge.otpFlowID))
      note(.warning, "a one-time code is wanted; this goes no further. To go on: authbroker login")
    case .userActionRequired(let action):
      cancel(.init(loginFlowID: action.loginFlowID))
      note(.warning, "something has to be done elsewhere first; this goes no further")
    case .emailVerificationRequired:
      note(.warning, "the e-mail address has to be verified first; this goes no further")
    }
    return false
  }

  /// Takes back a login that nobody will go on with; one that cannot be taken back ends by itself, soon.
  private mutating func cancel(_ login: CancelLogin.Params) {
    _ = try? context.call(CancelLogin.self, login, on: &connection)
  }

  private mutating func useSession() throws(CommandFailure) {
    let first = try context.call(GetAccessToken.self, .init(profile: profile), on: &connection)
    note(.ok, first.expiresAt.map { "ends at \($0)" } ?? "the provider says no end: it is only refreshed when refused")
    let fresh = try context.call(GetAccessToken.self, .init(profile: profile, forceRefresh: true), on: &connection)
    let isOther = fresh.tokenID != first.tokenID
    note(isOther ? .ok : .error, isOther ? "another token" : "the provider gave the same token again")
    let params = GetCurrentUser.Params(profile: profile, maxAge: .zero)
    let user = try context.call(GetCurrentUser.self, params, on: &connection)
    note(.ok, PlainText.line((user.email ?? user.id).utf8))
  }

  /// Ends the session, whatever came before.
  private mutating func logOut() {
    do throws(CommandFailure) {
      let result = try context.call(Logout.self, .init(profile: profile), on: &connection)
      let revoked = result.results.first?.serverRevoked ?? .no
      let finding = DoctorFinding(
        "provider.logout", "logout", revoked == .no ? .warning : .ok, "revoked at the provider: \(revoked.rawValue)")
      tried.append(finding)
    } catch {
      tried.append(DoctorFinding("provider.logout", "logout", .error, error.message))
    }
  }

  /// Notes what came of the next step.
  private mutating func note(_ status: DoctorFinding.Status, _ message: String, _ code: ExitCode = .failure) {
    let name = Self.steps[min(tried.count, Self.steps.count - 1)].0
    var finding = DoctorFinding("provider.\(name)", name, status, message)
    finding.exitCode = code
    tried.append(finding)
  }
}
