import ClientSocket
package import LinuxSystem
package import StateDirectory

/// The location of a broker, and whether it may be started.
///
/// Members that are nil come from the environment (`AUTHBROKER_SOCKET`, `AUTHBROKER_STATE`, `AUTHBROKER_CONFIG`, the
/// XDG base directories), as for the command `authbroker`.
public struct BrokerLocation: Sendable, Equatable {
  /// The state directory.
  public var state: String?
  /// The socket that a broker that is started listens on.
  public var socket: String?
  /// The configuration file; a running broker that uses another one is refused.
  public var configuration: String?
  /// Whether a broker is started where there is none.
  public var startsBroker: Bool

  /// The usual broker of this user, or the one that the arguments describe.
  public init(
    state: String? = nil, socket: String? = nil, configuration: String? = nil, startsBroker: Bool = true
  ) {
    self.state = state
    self.socket = socket
    self.configuration = configuration
    self.startsBroker = startsBroker
  }

  /// The paths of that broker's files.
  ///
  /// - Throws: `noBroker` if neither this location nor the environment names a state directory.
  package func paths(environment: EnvironmentVariables) throws(ClientError) -> StatePaths {
    do throws(StatePaths.Refusal) {
      return try StatePaths(
        .init(state: state, socket: socket, configuration: configuration), environment: environment,
        workingDirectory: ProcessIdentity.workingDirectory)
    } catch { throw .noBroker(reason: error.description) }
  }

  /// Finds or starts the broker and connects; waits for it, so not to be called on a thread that others need.
  func connect() throws(ClientError) -> BrokerConnector.Connection {
    // A copy: other threads of the program may change the environment.
    let environment = EnvironmentVariables(Environment.current)
    let paths = try paths(environment: environment)
    let launcher = startsBroker ? OwnerLauncher(environment: environment) : nil
    let connector = BrokerConnector(paths: paths, environment: environment, launcher: launcher)
    do throws(ConnectError) { return try connector.connect() } catch { throw ClientError(error) }
  }
}
