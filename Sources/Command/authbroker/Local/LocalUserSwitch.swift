import BrokerProtocol
import StateDirectory

/// What `authbroker local enable` and `authbroker local disable` do.
enum LocalUserSwitch {
  /// Lets the account that the command line names log in, or keeps it from that.
  static func run<C: Command>(_ context: Context, isEnabled: Bool, of command: C.Type) throws(CommandFailure) {
    try context.expectOperands(1...1, of: command)
    let name = context.arguments.operands[0]
    let params = SetLocalUserEnabled.Params(user: name, isEnabled: isEnabled)
    let user: LocalUser?
    do throws(CommandFailure) { user = try context.ask(SetLocalUserEnabled.self, params) } catch {
      throw UnknownUser.explained(error, name)
    }
    guard let user else { return }
    let address = PlainText.line(user.email.utf8)
    Output.notice(isEnabled ? "\(address) may log in" : "\(address) may not log in, and its sessions are revoked")
  }
}
