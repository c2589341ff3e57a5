import AuthBrokerClient
import BrokerProtocol

/// `authbroker cancel`.
enum CancelCommand: Command {
  static let name = "cancel"
  static let about = CommandDescription(
    operands: "[FLOW]",
    summary: "Cancel a login that waits for a code or for its user",
    details: """
      FLOW is the name of the login, which `authbroker status` shows; it may be left out where only one waits, or with
      --profile. What the provider still issues for it is revoked.
      """,
    examples: ["authbroker cancel", "authbroker cancel -p work"])

  /// Finds the login, and cancels it.
  static func run(_ context: Context) throws(CommandFailure) {
    let named = try context.arguments.operands.first.map { flow throws(CommandFailure) in try FlowHandle.checked(flow) }
    let wanted = try context.arguments.profile()
    var connection = try context.connect()
    let sessions = try context.call(ListSessions.self, Empty(), on: &connection).sessions.map { $0.profile }
    let profiles = sessions.filter { wanted == nil || $0 == wanted }
    let waiting = try PendingLogins.list(of: profiles, context, on: &connection)
    let step = try chosen(waiting.filter { named == nil || $0.id == named })
    let params: CancelLogin.Params =
      switch step {
      case .code(let challenge): .init(otpFlowID: challenge.otpFlowID)
      case .action(let action): .init(loginFlowID: action.loginFlowID)
      }
    _ = try context.call(CancelLogin.self, params, on: &connection)
    context.finish("the login to \(step.profile) is cancelled")
  }

  private static func chosen(_ waiting: [PendingLoginStep]) throws(CommandFailure) -> PendingLoginStep {
    guard let step = waiting.first else {
      throw .noPendingLogin(Message("no such login waits", next: NextCommand("to see which ones do", "status")))
    }
    guard waiting.count == 1 else {
      throw .usage(
        "\(waiting.count) logins wait; name one, or its --profile", next: NextCommand("to see them", "status"))
    }
    return step
  }
}
