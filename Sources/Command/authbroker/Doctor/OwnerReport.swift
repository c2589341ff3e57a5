import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import StateDirectory

/// The answers of the owner of the state directory, or why there are none.
struct OwnerReport: Sendable {
  /// The outcome of connecting.
  enum Contact: Sendable, Equatable {
    /// It was not asked yet.
    case none
    /// There is no owner, and none was to be started.
    case absent
    /// It answers; true if it was started for this.
    case made(OwnerRecord?, wasStarted: Bool)
    /// There is none, or it does not answer, and why.
    case failed(CommandFailure)
  }

  /// How long the check of every page of a vault may take, if the command line does not say.
  private static let longestCheck = Duration.seconds(600)

  /// Whether it answers.
  private(set) var contact = Contact.none
  /// Its status.
  private(set) var status: GetStatus.Result?
  /// Why there is no status.
  private(set) var statusFailure: CommandFailure?
  /// The result of its vault check; nil where it was not asked, or where it did not answer.
  private(set) var vaultCheck: CheckVault.Result?
  /// Whether every page was checked.
  private(set) var isFullCheck = false
  /// Why there is no result of the vault check.
  private(set) var vaultCheckFailure: CommandFailure?
  /// The result of its provider check; nil where it was not asked, or where it did not answer.
  private(set) var providerCheck: CheckProviders.Result?
  /// Why there is no result of the provider check.
  private(set) var providerCheckFailure: CommandFailure?
  /// The ways to the providers that are found step by step, as far as the owner answered.
  private(set) var providerSteps: [CheckProvider.Result] = []

  /// The advice where there is no account to log in to; nil elsewhere.
  private(set) var firstAccount: Message?
  /// The events that it still has; empty where it was not asked, or did not answer.
  private(set) var events: [BrokerEvent] = []

  /// The path of the owner's socket, if its record has one.
  var socket: String? {
    guard case .made(let owner?, _) = contact, !owner.socket.isEmpty else { return nil }
    return owner.socket
  }

  /// A report for which nothing was asked yet.
  init() {}

  /// Connects, starts an owner where there is none and the command line allows it, and asks.
  mutating func collect(_ context: Context) {
    do throws(CommandFailure) {
      let connection = try connect(context)
      contact = .made(connection.owner, wasStarted: connection.wasStarted)
      var blocking = context.connection(connection)
      ask(&blocking, context)
    } catch {
      contact = isAbsent(error, context) ? .absent : .failed(error)
    }
  }

  private func connect(_ context: Context) throws(CommandFailure) -> BrokerConnector.Connection {
    let connector = try context.connector()
    do throws(ConnectError) { return try connector.connect() } catch { throw CommandFailure(error) }
  }

  /// Without an owner, `--no-start` is no failure; a socket that was named is one.
  private func isAbsent(_ failure: CommandFailure, _ context: Context) -> Bool {
    guard context.arguments.has("--no-start"), (context.environment["AUTHBROKER_SOCKET"] ?? "").isEmpty,
      let paths = try? context.paths()
    else { return false }
    return failure == CommandFailure(.notRunning(socket: paths.socket, startable: true))
  }

  private mutating func ask(_ connection: inout BlockingConnection, _ context: Context) {
    do throws(CommandFailure) {
      status = try context.call(GetStatus.self, Empty(), on: &connection)
    } catch {
      statusFailure = error
      return
    }
    if status?.vault.locked == false { askOfVault(&connection, context) }
    askOfEvents(&connection, context)
    if let sessions = status?.profiles { firstAccount = FirstAccount.hint(sessions, context, on: &connection) }
    if !context.arguments.has("--no-network") { askOfProviders(&connection, context) }
  }

  private mutating func askOfVault(_ connection: inout BlockingConnection, _ context: Context) {
    isFullCheck = !context.arguments.has("--quick")
    do throws(CommandFailure) {
      vaultCheck = try context.call(
        CheckVault.self, .init(isFull: isFullCheck), on: &connection, within: Self.longestCheck)
    } catch { vaultCheckFailure = error }
  }

  /// Asks for past events, where they explain something.
  private mutating func askOfEvents(_ connection: inout BlockingConnection, _ context: Context) {
    guard let status else { return }
    let isOffline = status.profiles.contains { $0.state == .offline }
    guard isOffline || RunningConfigurationCheck.isSuspect(connection.owner, status) else { return }
    events = PastEvents.list(Outage.events + [.configReloaded], context, on: &connection)
  }

  private mutating func askOfProviders(_ connection: inout BlockingConnection, _ context: Context) {
    do throws(CommandFailure) {
      let profile = try context.arguments.profile()
      providerCheck = try context.call(CheckProviders.self, .init(profile: profile), on: &connection)
    } catch { providerCheckFailure = error }
    for report in providerCheck?.providers ?? [] where ProviderSteps.areTold(of: report) {
      guard let steps = try? context.call(CheckProvider.self, .init(profile: report.profile), on: &connection) else {
        continue
      }
      providerSteps.append(steps)
    }
  }
}
