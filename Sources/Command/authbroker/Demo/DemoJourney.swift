import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// The life of one session, told by two clients of one broker.
struct DemoJourney: ~Copyable {
  private var stage: DemoStage
  private let outbox: String
  private var first: BlockingConnection
  private var second: BlockingConnection
  /// Messages of the outbox that have been used; their files may still be there.
  private var usedMessages: Set<String> = []

  private static let email = "ann@example.com"
  /// The longest time of a step; the longest step waits for the end of the refresh token.
  private static let patience = Duration.seconds(20)

  /// A journey that has not begun.
  init(
    stage: DemoStage, outbox: String, first: consuming BlockingConnection, second: consuming BlockingConnection
  ) {
    self.stage = stage
    self.outbox = outbox
    self.first = first
    self.second = second
  }

  /// All steps.
  ///
  /// - Throws: a failure at the first thing that is not as it should be.
  mutating func run() throws(CommandFailure) {
    try subscribe()
    try register()
    let token = try getToken()
    try seeRefresh(of: token)
    try seeExpiry()
    try logIn()
    try logOut()
    Output.line("\n" + stage.style.bold("Done.") + " No network was used; the temporary directory is removed.")
  }

  /// Ends the broker; whatever happens, it does not outlive the demo.
  mutating func stop() {
    guard (try? first.request(StopBroker.self, .init(), timeout: Self.patience)) != nil else { return }
    try? first.awaitEnd(timeout: Self.patience)
  }

  private mutating func subscribe() throws(CommandFailure) {
    stage.step("In a second terminal, watch every event")
    stage.typed("watch")
    do throws(ClientError) {
      _ = try second.request(Subscribe.self, .init(), timeout: Self.patience)
    } catch { throw CommandFailure(error) }
  }

  private mutating func register() throws(CommandFailure) {
    stage.step("Register an account with a phone number")
    let result = try ask(
      Register.self,
      .init(email: Self.email, password: try Self.password(), name: "Ann", phoneNumber: "+49 151 0000 0000"),
      typing: "register --email \(Self.email) --name Ann --phone '+49 151 0000 0000'")
    stage.step("Answer with the one-time code that the embedded provider put into its outbox")
    try answer(result)
  }

  private mutating func logIn() throws(CommandFailure) {
    stage.step("Log in again, with password and code")
    let result = try ask(
      Login.self, .init(email: Self.email, password: try Self.password()), typing: "login --email \(Self.email)")
    try answer(result)
  }

  private mutating func answer(_ result: LoginResult) throws(CommandFailure) {
    guard case .otpRequired(let challenge) = result.progress else { throw Self.surprise("a one-time code is wanted") }
    let code = try takeCode()
    let answer = try ask(
      VerifyOTP.self, .init(otpFlowID: challenge.otpFlowID, code: code), typing: "verify-otp   (asks for the code)")
    guard case .authenticated(let session) = answer.progress, session.state == .authenticated else {
      throw Self.surprise("there is a session")
    }
    stage.answered("logged in as \(Self.email)")
    _ = try see(.login)
  }

  private mutating func getToken() throws(CommandFailure) -> AccessToken {
    stage.step("Get an access token (it lives for 4 seconds; shown is only its tokenId)")
    let token = try ask(GetAccessToken.self, .init(), typing: "token")
    stage.answered("the token \(token.tokenID)")
    try require(token.expiresAt != nil, "the token expires")
    return token
  }

  private mutating func seeRefresh(of token: AccessToken) throws(CommandFailure) {
    stage.step("The broker refreshes it before it expires; no client has to ask")
    guard case .tokenRefreshed(let refreshed) = try see(.tokenRefreshed).payload else {
      throw Self.surprise("the token was refreshed")
    }
    let next = try ask(GetAccessToken.self, .init(), typing: "token")
    stage.answered("the token \(next.tokenID)")
    try require(next.tokenID != token.tokenID, "it is another token")
    try require(next.tokenID == refreshed.tokenID, "it is the one that watch has told of")
  }

  private mutating func seeExpiry() throws(CommandFailure) {
    stage.step("After 12 seconds the refresh token expires as well, and every client is told")
    guard case .sessionExpired(let end) = try see(.sessionExpired).payload else {
      throw Self.surprise("the session has ended")
    }
    try require(end.reason == .refreshTokenExpired, "the reason is that the refresh token expired")
    try askForToken(expecting: .sessionExpired)
  }

  private mutating func logOut() throws(CommandFailure) {
    stage.step("Log out: here at once, and at the provider")
    let result = try ask(Logout.self, .init(), typing: "logout")
    try require(result.results.map { $0.serverRevoked } == [.yes], "the provider has revoked the session")
    _ = try see(.logout)
    try askForToken(expecting: .loginRequired)
  }
}

extension DemoJourney {
  /// Calls a method as the first client, and shows the command that a person types for it.
  private mutating func ask<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, typing command: String
  ) throws(CommandFailure) -> Method.Result {
    stage.typed(command)
    do throws(ClientError) { return try first.request(method, params, timeout: Self.patience) } catch {
      throw CommandFailure(error)
    }
  }

  /// Asks for a token, which must be refused.
  private mutating func askForToken(expecting kind: ErrorKind) throws(CommandFailure) {
    stage.typed("token")
    do throws(ClientError) {
      _ = try first.request(GetAccessToken.self, .init(), timeout: Self.patience)
    } catch {
      guard case .broker(let refusal) = error, refusal.kind == kind else { throw CommandFailure(error) }
      stage.answered(refusal)
      return
    }
    throw Self.surprise("the broker refuses with \(kind.rawValue)")
  }

  /// Waits until the second client receives an event, and prints those that come before it too.
  private mutating func see(_ name: EventName) throws(CommandFailure) -> BrokerEvent {
    do throws(ClientError) {
      while true {
        let (event, text) = try second.nextEventWithText(timeout: Self.patience)
        stage.told(event, text)
        if event.payload.name == name { return event }
      }
    } catch { throw CommandFailure(error) }
  }

  /// The code of the newest message in the outbox, which stands for the user's telephone.
  private mutating func takeCode() throws(CommandFailure) -> Secret {
    let unreadable = Self.surprise("the outbox can be read")
    guard let names = try? TemporaryDirectory.names(in: outbox) else { throw unreadable }
    guard let name = names.last(where: { $0.hasSuffix(".json") && !usedMessages.contains($0) }) else {
      throw Self.surprise("there is a message in the outbox")
    }
    usedMessages.insert(name)
    guard let file = try? FileDescriptor.open(outbox + "/" + name, [.read, .noFollow]),
      let text = try? file.contents(limit: 64 * 1024), let message = try? JSONDocument(parsing: text).root
    else { throw unreadable }
    do throws(JSONMismatch) {
      stage.note("outbox: a message to \(try message.required("to").string())")
      return try message.required("code").secret()
    } catch { throw unreadable }
  }

  private static func password() throws(CommandFailure) -> Secret {
    // Made up here and used nowhere else.
    do { return try Secret(utf8: "correct horse battery staple") } catch {
      throw CommandFailure(.failure, "the memory for secrets is used up")
    }
  }

  private func require(_ condition: Bool, _ expectation: String) throws(CommandFailure) {
    guard condition else { throw Self.surprise(expectation) }
    stage.note("✓ " + expectation)
  }

  private static func surprise(_ expectation: String) -> CommandFailure {
    CommandFailure(.failure, "the demo expected that \(expectation), which is not so")
  }
}
