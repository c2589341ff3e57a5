import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import StateDirectory

/// The pending logins of all profiles.
enum PendingLogins {
  /// Asks for the pending logins of some profiles, one by one: a broker of 0.2 has no answer for all.
  ///
  /// - Throws: what the broker answers, as where its vault is locked.
  static func list(
    of profiles: some Sequence<ProfileName>, _ context: Context, on connection: inout BlockingConnection
  ) throws(CommandFailure) -> [PendingLoginStep] {
    var steps: [PendingLoginStep] = []
    for profile in profiles {
      steps += try context.call(ListPendingLogins.self, .init(profile: profile), on: &connection).logins
    }
    return steps
  }

  /// Prints a paragraph with one line for each login of some profiles, which ends with the command that goes on with it;
  /// nothing where there is none, or the broker does not tell.
  static func print(
    of profiles: some Sequence<ProfileName>, _ context: Context, on connection: inout BlockingConnection
  ) {
    // Beside what was asked for: that the vault is locked, or the broker ends, was told of there.
    guard let steps = try? list(of: profiles, context, on: &connection) else { return }
    if !steps.isEmpty { Output.line("") }
    for step in steps {
      let prefix = "\(step.profile): "
      let text = message(step).shown(for: context.arguments, behind: prefix, columns: Terminal.columns(1))
      Output.paragraph(text, behind: prefix, indent: 2)
    }
  }

  private static func message(_ step: PendingLoginStep) -> Message {
    switch step {
    case .code(let challenge):
      Message(
        "a login waits for its code (\(challenge.method.rawValue)) until \(LocalTime.clock(challenge.expiresAt))",
        next: NextCommand("answer with", "verify-otp", challenge.otpFlowID))
    case .action(let action):
      Message(
        "a login waits until \(LocalTime.clock(action.expiresAt)) for its user to \(deed(action))",
        next: NextCommand("wait with", "login", "--flow", action.loginFlowID))
    }
  }

  /// The user's next step.
  static func deed(_ action: UserAction) -> String {
    guard let address = action.verificationURI.map({ PlainText.line($0.utf8) }) else {
      return "finish it where it was begun"
    }
    switch action.kind {
    case .deviceCode:
      let code = action.userCode.map { " and enter the code " + PlainText.line($0.utf8) } ?? ""
      return "open \(address)\(code)"
    case .browser: return "open \(address)"
    }
  }
}
