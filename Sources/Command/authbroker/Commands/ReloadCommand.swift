import AuthBrokerClient
import BrokerProtocol

/// `authbroker reload`.
enum ReloadCommand: Command {
  static let name = "reload"
  static let about = CommandDescription(
    summary: "Have the running broker read its configuration again",
    details: """
      Sessions of profiles that stay as they are go on. One whose profile is gone, or names another provider or client, is
      signed out and kept sealed for 30 days: it comes back when the configuration is as before, and `logout -p NAME` ends
      it. A configuration with a mistake changes nothing. Where no broker is running, the file is checked, and the next one
      reads it.
      """,
    examples: ["authbroker reload"])

  /// Asks the broker that runs, and says which profiles it has now.
  static func run(_ context: Context) throws(CommandFailure) {
    guard var connection = try context.connectToRunning() else {
      let profiles = try ConfigurationVerdict.accepted(context).profiles.compactMap { ProfileName($0) }
      guard !context.wantsJSON else { return context.printJSON(ReloadConfiguration.Result(profiles: profiles)) }
      return Output.notice("no broker is running; the next one reads the configuration, which is valid")
    }
    let result = try context.call(ReloadConfiguration.self, Empty(), on: &connection)
    guard !context.wantsJSON else { return context.printJSON(result) }
    let names = result.profiles.map { $0.description }.joined(separator: ", ")
    Output.notice("the broker has read its configuration (profiles: \(names))")
  }

  /// Has a running broker read the configuration that was just written; the next one does by itself.
  static func reloadRunning(_ context: Context) {
    do throws(CommandFailure) {
      guard var connection = try context.connectToRunning() else { return }
      _ = try context.call(ReloadConfiguration.self, Empty(), on: &connection)
    } catch { context.tell(error.message.behind("the running broker has not read it yet: ")) }
  }
}
