import AuthBrokerClient
import BrokerProtocol

extension RegisterCommand {
  /// Finds out whether there is any use in asking a person for an address and a password.
  ///
  /// - Throws: a failure if the broker says that the provider of the profile makes no accounts. Without a terminal, and
  ///   from a broker that does not say, its answer to the request itself is enough.
  static func expectAbility(of profile: ProfileName?, _ context: Context) throws(CommandFailure) {
    guard context.canAsk else { return }
    var connection = try context.connect()
    guard let broker = try? context.call(Initialize.self, .init(), on: &connection) else { return }
    let sessions = broker.sessions
    let wanted = profile ?? (sessions.count == 1 ? sessions[0].profile : .default)
    guard let session = sessions.first(where: { $0.profile == wanted }),
      let type = broker.capabilities.providers.first(where: { $0.type == session.provider }),
      !type.methods.contains(Register.name)
    else { return }
    throw CommandFailure(.broker(BrokerError(.unsupportedByProvider, profile: wanted)))
  }
}
