import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import StateDirectory

/// `authbroker demo`.
enum DemoCommand: Command {
  static let name = "demo"
  static let about = CommandDescription(
    summary: "Show the whole life of a session in a temporary directory, with no network",
    details: """
      Starts a broker of its own with short lifetimes: register, log in with a one-time code, get a token, see it
      refreshed and see the session end. Your own broker and sessions are left alone. Takes about 15 seconds.
      """,
    examples: ["authbroker demo"])

  /// Lifetimes that let a person see every change; the rest is as usual.
  private static let configuration = """
    {
      // An owner that was started on demand ends by itself, should the demo be interrupted.
      lingerSeconds: 5,
      local: { accessTokenLifetimeSeconds: 4, refreshTokenLifetimeSeconds: 12, otp: { resendCooldownSeconds: 1 } },
    }

    """

  /// Plays the journey in a temporary directory, which is removed whatever happens.
  static func run(_ context: Context) throws(CommandFailure) {
    let directory = try temporaryDirectory()
    try play(in: directory.path, context)
    // Until here: it is removed with all that is in it.
    _ = consume directory
  }

  private static func temporaryDirectory() throws(CommandFailure) -> TemporaryDirectory {
    do throws(Errno) {
      let directory = try TemporaryDirectory(prefix: "authbroker-demo")
      let file = try FileDescriptor.open(directory.path + "/config.json", [.write, .create, .exclusive, .noFollow])
      try file.writeAll(Array(configuration.utf8).span)
      return directory
    } catch { throw CommandFailure(.failure, "no temporary directory can be made: \(error)") }
  }

  private static func play(in directory: String, _ context: Context) throws(CommandFailure) {
    let paths = try paths(in: directory)
    let environment = context.environment.without("AUTHBROKER_SOCKET")
    let connector = BrokerConnector(
      paths: paths, environment: environment, launcher: OwnerLauncher(environment: environment))
    var journey = DemoJourney(
      stage: DemoStage(style: context.style), outbox: paths.localProvider + "/outbox",
      first: try connect(connector), second: try connect(connector))
    let outcome = Result { () throws(CommandFailure) in try journey.run() }
    journey.stop()
    try outcome.get()
  }

  private static func paths(in directory: String) throws(CommandFailure) -> StatePaths {
    let options = StatePaths.Options(state: directory + "/state", configuration: directory + "/config.json")
    do throws(StatePaths.Refusal) {
      return try StatePaths(options, environment: [:], workingDirectory: "/")
    } catch { throw CommandFailure(.failure, error.description) }
  }

  private static func connect(_ connector: BrokerConnector) throws(CommandFailure) -> BlockingConnection {
    do throws(ConnectError) { return BlockingConnection(try connector.connect()) } catch {
      throw CommandFailure(error)
    }
  }
}
