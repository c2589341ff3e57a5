import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// Waits until a user has done what a login asked of them, with the time that is left in sight.
struct ActionWait: ~Copyable {
  /// How long one question to the broker waits: the person who presses Ctrl-C notices no delay.
  private static let step = Duration.milliseconds(500)

  private let action: UserAction
  private let context: Context
  /// Whether the time that is left is shown.
  private let showsTime = Terminal.isTerminal(2)
  /// What stands on the line.
  private var shown = ""

  /// A wait for one login.
  init(_ action: UserAction, _ context: Context) {
    self.action = action
    self.context = context
  }

  /// Waits to the end, however it comes; Ctrl-C cancels the login.
  ///
  /// - Throws: the failure that the login ends with.
  consuming func finish(on connection: inout BlockingConnection) throws(CommandFailure) -> LoginResult {
    let signals: [Signal] = [.interrupt, .terminate, .hangUp]
    let pending: SignalDescriptor
    do throws(Errno) {
      try Signal.block(signals)
      pending = try SignalDescriptor(signals)
    } catch { throw CommandFailure(.failure, "signals cannot be received: \(error).") }
    defer { try? Signal.unblock(signals) }
    while true {
      showTime()
      if pending.next() != nil {
        clear()
        throw cancel(on: &connection)
      }
      do throws(CommandFailure) {
        let params = AwaitLogin.Params(loginFlowID: action.loginFlowID, timeout: Self.step)
        let result = try context.call(AwaitLogin.self, params, on: &connection)
        clear()
        return result
      } catch {
        guard error.error?.kind == .deadlineExceeded else {
          clear()
          throw explained(error)
        }
      }
    }
  }

  /// The failure, with what becomes of a login that outlives its broker.
  private func explained(_ failure: CommandFailure) -> CommandFailure {
    guard failure.exitCode == .brokerUnreachable, action.kind == .deviceCode else { return failure }
    var failure = failure
    failure.message += " The code stays good, and the next broker goes on waiting; start it with: authbroker status"
    return failure
  }

  /// Takes the login back; one that has ended meanwhile is no trouble.
  private func cancel(on connection: inout BlockingConnection) -> CommandFailure {
    let params = CancelLogin.Params(loginFlowID: action.loginFlowID)
    do throws(CommandFailure) {
      _ = try context.call(CancelLogin.self, params, on: &connection, within: .seconds(5))
    } catch {
      guard error.error?.kind == .flowNotFound else {
        return CommandFailure(.failure, "the login could not be cancelled: \(error.message)")
      }
    }
    return CommandFailure(.failure, "the login was cancelled.")
  }

  private mutating func showTime() {
    guard showsTime else { return }
    let left = action.expiresAt - Timestamp(milliseconds: WallClock.milliseconds)
    write("waiting; \(left.inWords) left, Ctrl-C cancels")
  }

  private mutating func clear() {
    guard showsTime else { return }
    write("")
    Output.progress("\r")
  }

  /// Writes the line anew where it changes: a carriage return and blanks, which every terminal knows.
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
