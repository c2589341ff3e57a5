import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// Keeps a token file as its session is: written while there is a token, removed while there is none.
///
/// It asks for the state after each event and does not count events, so that nothing is missed while a broker restarts.
struct TokenFileKeeper: ~Copyable {
  /// A token of either kind.
  private struct Token {
    let secret: Secret
    let expiresAt: Timestamp?

    /// How long it lives from now on; nil: not known.
    var life: Duration? { expiresAt.map { $0 - LocalTime.now } }
  }

  /// After these the token is asked for.
  private static let events: [EventName] = [
    .login, .tokenRefreshed, .logout, .sessionExpired, .vaultLocked, .vaultUnlocked, .shuttingDown, .configReloaded,
  ]
  /// The pause before a failed request is repeated.
  private static let retry = Duration.seconds(15)

  private let context: Context
  private let choice: TokenChoice
  private let wantsIdentity: Bool
  private var file: TokenFile
  private var connection: BlockingConnection
  private var reconnection: Reconnection
  private var schedule: TokenFileSchedule
  /// The last notice: none is repeated twice in a row.
  private var told = ""
  private var hasToldShortness = false
  /// Whether the next write is reported: there is no file at present.
  private var isMissing = true
  /// The present contents of the file.
  private var written: Secret?
  private var isStopping = false
  private var isSubscribed = false

  /// Connects.
  init(
    _ context: Context, _ choice: TokenChoice, _ file: consuming TokenFile, wantsIdentity: Bool
  ) throws(CommandFailure) {
    self.context = context
    self.choice = choice
    self.wantsIdentity = wantsIdentity
    schedule = TokenFileSchedule(isRefreshedByOthers: !wantsIdentity)
    connection = try context.connect()
    reconnection = Reconnection(context)
    self.file = file
  }

  /// Writes the file once; it stays.
  ///
  /// - Throws: a failure that names the login, where one is required; nothing is written then.
  consuming func writeOnce() throws(CommandFailure) {
    do throws(CommandFailure) { _ = try write() } catch {
      file.release()
      throw error
    }
    file.release()
  }

  /// Keeps the file until a signal comes, or the broker is gone for good.
  ///
  /// - Parameter keepsFile: whether the file is left then.
  /// - Throws: what no waiting would change, such as an unknown profile.
  consuming func run(keepsFile: Bool) throws(CommandFailure) {
    let held = try HeldSignals()
    var ending: CommandFailure?
    do throws(CommandFailure) { try keep(until: held) } catch { ending = error }
    if !keepsFile { file.remove() }
    file.release()
    // Until here: no other signal ends this before the file is removed.
    held.release()
    if let ending { throw ending }
  }

  /// - Throws: how it ends, unless by SIGTERM.
  private mutating func keep(until held: borrowing HeldSignals) throws(CommandFailure) {
    while true {
      if try hasEnded(by: held) { return }
      if try isConnected(until: held) { continue }
      if try reconnect(unless: held) { return }
    }
  }

  /// Makes the file as the session is, and waits until something may have changed.
  ///
  /// - Returns: false where the broker has gone.
  private mutating func isConnected(until held: borrowing HeldSignals) throws(CommandFailure) -> Bool {
    let pause: Duration?
    do throws(CommandFailure) {
      if !isSubscribed { try subscribe() }
      pause = try refresh()
    } catch {
      guard error.exitCode == .brokerUnreachable else { throw error }
      guard error.isUnresponsive else {
        // In order, and not by its death.
        if error.error?.kind == .shuttingDown { isStopping = true }
        return false
      }
      tell(error.message.text(for: context.arguments))
      pause = Self.retry
    }
    do throws(ClientError) { try awaitEvent(atMost: pause, unless: held) } catch {
      guard error == .timedOut || error == .cancelled else { return false }
    }
    return true
  }

  private mutating func subscribe() throws(CommandFailure) {
    let names = Self.events.map { $0.rawValue }
    _ = try context.call(Subscribe.self, .init(events: names), on: &connection)
    isSubscribed = true
  }

  /// Waits for an event that may concern the token.
  private mutating func awaitEvent(
    atMost limit: Duration?, unless held: borrowing HeldSignals
  ) throws(ClientError) {
    let event = try connection.nextEvent(timeout: limit, unless: held.pending.descriptor)
    if event.payload.name == .shuttingDown { isStopping = true }
  }

  /// - Returns: whether the program ends with code 0.
  /// - Throws: an end by the signal of the keyboard or of a terminal that has gone, as without this program's hand.
  private func hasEnded(by held: borrowing HeldSignals) throws(CommandFailure) -> Bool {
    guard let signal = held.next() else { return false }
    guard signal != .terminate else { return true }
    var failure = CommandFailure.quiet(.failure)
    failure.signal = signal
    throw failure
  }

  /// Finds the next broker; one that was stopped is waited for without an end.
  ///
  /// - Returns: whether a signal came meanwhile that ends the program with code 0.
  private mutating func reconnect(unless held: borrowing HeldSignals) throws(CommandFailure) -> Bool {
    isSubscribed = false
    if isStopping { tell("the broker was stopped; waiting for the next one") }
    while true {
      if let next = try reconnection.connect(wasStopped: isStopping, unless: held) {
        connection = next
        isStopping = false
        return false
      }
      if try hasEnded(by: held) { return true }
    }
  }
}

extension TokenFileKeeper {
  /// Makes the file as the session is.
  ///
  /// - Returns: how long it is left alone; nil: until an event comes.
  /// - Throws: what no waiting would change, and a failure with code 8 where the broker has gone.
  private mutating func refresh() throws(CommandFailure) -> Duration? {
    do throws(CommandFailure) { return try write() } catch {
      switch error.exitCode {
      case .loginRequired, .vault:
        // What ends a session, or locks it away, ends the use of its tokens.
        let removed = file.remove() ? "removed \(file.path.shellQuoted): " : "waiting: "
        (isMissing, written) = (true, nil)
        schedule = TokenFileSchedule(isRefreshedByOthers: !wantsIdentity)
        tell(error.message.behind(removed).text(for: context.arguments))
        return nil
      case .providerUnavailable:
        tell(error.message.behind("the file keeps the token that it has: ").text(for: context.arguments))
        return Self.retry
      default: throw error
      }
    }
  }

  /// Asks for the token and writes it.
  ///
  /// - Returns: how long the file is left alone; nil where the token does not expire.
  private mutating func write() throws(CommandFailure) -> Duration? {
    var token = try ask()
    if let life = token.life, schedule.note(life, isFresh: false), let fresh = try askForFresh() {
      let isRenewed = fresh.secret != token.secret
      token = fresh
      if let life = fresh.life { _ = schedule.note(life, isFresh: true, isRenewed: isRenewed) }
    }
    if written != token.secret || !file.isInPlace {
      try token.secret.withBytes { (bytes) throws(CommandFailure) in try file.write(bytes) }
      written = token.secret
    }
    tell(token)
    return token.life.map(schedule.pause)
  }

  private mutating func tell(_ token: Token) {
    let expiry = token.expiresAt.map { "; the token expires \(LocalTime.relative($0))" } ?? ""
    if isMissing { tell("wrote \(file.path.shellQuoted)\(expiry)") }
    isMissing = false
    guard schedule.isShort, !hasToldShortness, let lifetime = schedule.lifetime else { return }
    hasToldShortness = true
    let life = Self.rounded(lifetime).inWords
    tell("the provider's tokens live for \(life) only; each is replaced before half of that is over")
  }

  private static func rounded(_ life: Duration) -> Duration { .seconds((life.milliseconds + 500) / 1000) }

  private mutating func ask() throws(CommandFailure) -> Token {
    guard !wantsIdentity else {
      let token = try context.call(GetIDToken.self, .init(profile: choice.profile), on: &connection)
      return Token(secret: token.idToken, expiresAt: token.expiresAt)
    }
    let params = choice.params(minValidity: schedule.wanted)
    let token = try context.call(GetAccessToken.self, params, on: &connection)
    try BearerToken.check(token)
    return Token(secret: token.accessToken, expiresAt: token.expiresAt)
  }

  /// Asks for a token that is issued now.
  ///
  /// - Returns: nil where there is none at the moment, while the present one is still good.
  private mutating func askForFresh() throws(CommandFailure) -> Token? {
    var params = choice.params(forceRefresh: true)
    if wantsIdentity { params = GetAccessToken.Params(profile: choice.profile, forceRefresh: true) }
    do throws(CommandFailure) {
      let token = try context.call(GetAccessToken.self, params, on: &connection)
      guard wantsIdentity else {
        try BearerToken.check(token)
        return Token(secret: token.accessToken, expiresAt: token.expiresAt)
      }
    } catch {
      guard error.exitCode == .providerUnavailable else { throw error }
      return nil
    }
    return try ask()
  }

  private mutating func tell(_ text: String) {
    guard text != told else { return }
    told = text
    Output.notice(text)
  }
}
