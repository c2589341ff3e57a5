import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// Waits until a user has finished the user action of a login, and shows the time that is left.
///
/// The login is the broker's and outlives it: where the broker dies, the next one is asked.
struct ActionWait: ~Copyable {
  /// How long one question to the broker waits: the person who presses Ctrl-C notices no delay.
  private static let step = Duration.milliseconds(500)
  /// How long an answer may take beyond that.
  private static let patience = Duration.seconds(60)

  private let action: UserAction
  private let context: Context
  private var reconnection: Reconnection
  /// Whether the time that is left is shown.
  private let showsTime: Bool
  /// The present text of the line.
  private var shown = ""

  /// A wait for one login.
  init(_ action: UserAction, _ context: Context) {
    self.action = action
    self.context = context
    reconnection = Reconnection(context)
    showsTime = Terminal.isTerminal(2) && !context.wantsJSON
  }

  /// Waits to the end, however it comes: at the latest that of the login's own time, or of `--timeout`.
  ///
  /// Ctrl-C cancels the login and ends the program as it would without this.
  ///
  /// - Throws: the failure that the login ends with; one with code 3 where the time of `--timeout` is over.
  consuming func finish(on connection: inout BlockingConnection) throws(CommandFailure) -> LoginResult {
    let deadline = try context.arguments.seconds("--timeout").map { BootClock.now + $0 }
    let held = try HeldSignals()
    while true {
      showTime(until: deadline)
      if let signal = held.next() {
        clear()
        var failure = cancel(on: &connection)
        failure.signal = signal
        throw failure
      }
      if let result = try ask(&connection, held) {
        clear()
        return result
      }
      guard deadline.map({ BootClock.now < $0 }) ?? true else {
        clear()
        throw isLate
      }
    }
  }

  /// - Returns: nil while there is nothing to be said.
  private mutating func ask(
    _ connection: inout BlockingConnection, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> LoginResult? {
    if let result = try takePaste(&connection) { return result }
    let failure: CommandFailure
    do throws(ClientError) {
      let params = AwaitLogin.Params(loginFlowID: action.loginFlowID, timeout: Self.step)
      return try connection.request(AwaitLogin.self, params, timeout: Self.step + Self.patience)
    } catch { failure = CommandFailure(error) }
    if failure.error?.kind == .deadlineExceeded { return nil }
    clear()
    guard failure.exitCode == .brokerUnreachable, !failure.isUnresponsive else { throw Self.explained(failure) }
    connection = try held.lettingThrough { () throws(CommandFailure) in try reconnect() }
    return nil
  }

  /// Goes on with the address that the person has pasted, where there is one.
  ///
  /// - Returns: nil where nothing was pasted, or not the login's address: then the login goes on.
  private mutating func takePaste(
    _ connection: inout BlockingConnection
  ) throws(CommandFailure) -> LoginResult? {
    guard action.kind == .browser, RedirectPaste.isPossible(context), let line = try RedirectPaste.line() else {
      return nil
    }
    clear()
    let params = CompleteLogin.Params(loginFlowID: action.loginFlowID, redirectURL: line)
    do throws(ClientError) {
      return try connection.request(CompleteLogin.self, params, timeout: Self.patience)
    } catch {
      let failure = CommandFailure(error)
      // A broker that has ended is found again by the next question.
      guard [.invalidParams, nil].contains(failure.error?.kind) else { throw Self.explained(failure) }
      context.tell(failure.message)
      return nil
    }
  }

  /// Finds the next broker; meanwhile no broker could cancel the login, so that Ctrl-C just ends the waiting.
  private mutating func reconnect() throws(CommandFailure) -> BlockingConnection {
    do throws(CommandFailure) { return try reconnection.connect() } catch {
      guard error.exitCode == .brokerUnreachable else { throw error }
      throw CommandFailure(.brokerUnreachable, goesOn.behind("the broker has ended, and no other one came; "))
    }
  }

  private var isLate: CommandFailure {
    var failure = CommandFailure(.loginRequired, goesOn.behind("the login was not finished \(context.withinTimeout); "))
    failure.error = BrokerError(.deadlineExceeded, profile: action.profile)
    return failure
  }

  /// The message about a login that this command no longer waits for.
  private var goesOn: Message {
    Message(
      "the login goes on until \(LocalTime.clock(action.expiresAt))",
      next: NextCommand("wait for it again with", "login", "--flow", action.loginFlowID))
  }

  /// A login that was not finished is no wrong code: the user has to log in.
  private static func explained(_ failure: CommandFailure) -> CommandFailure {
    guard failure.error?.kind == .otpExpired else { return failure }
    var failure = failure
    failure.exitCode = .loginRequired
    return failure
  }

  /// Cancels the login; one that has ended meanwhile is no trouble.
  ///
  /// - Returns: what is said of it.
  private func cancel(on connection: inout BlockingConnection) -> CommandFailure {
    let params = CancelLogin.Params(loginFlowID: action.loginFlowID)
    do throws(ClientError) {
      _ = try connection.request(CancelLogin.self, params, timeout: .seconds(5))
    } catch {
      let failure = CommandFailure(error)
      guard failure.error?.kind == .flowNotFound else {
        return failure.saying(failure.message.behind("the login could not be cancelled: "))
      }
    }
    let error = BrokerError(.cancelled, profile: action.profile)
    return CommandFailure(.broker(error)).saying(Message("the login was cancelled"))
  }

  private mutating func showTime(until deadline: Duration?) {
    guard showsTime else { return }
    let left = action.expiresAt - Timestamp(milliseconds: WallClock.milliseconds)
    let shorter = deadline.map { min(left, $0 - BootClock.now) } ?? left
    write("waiting; \(shorter.inWords) left, Ctrl-C cancels")
  }

  private mutating func clear() {
    guard showsTime else { return }
    write("")
    Output.progress("\r")
  }

  /// Writes the line again where it changes: a carriage return and blanks, which every terminal knows.
  ///
  /// Meanwhile a terminal does not go on in the next line (DECAWM, see console_codes(4)): on a narrow one, each second
  /// would leave a line behind. With `NO_COLOR` nothing but the text is written.
  private mutating func write(_ text: String) {
    guard text != shown else { return }
    let blanks = String(repeating: " ", count: max(0, shown.count - text.count))
    let isSober = context.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    let isPlain = isSober || ["", "dumb"].contains(context.environment["TERM"] ?? "")
    Output.progress(isPlain ? "\r" + text + blanks : "\u{1B}[?7l\r" + text + blanks + "\u{1B}[?7h")
    shown = text
  }
}
