#if !hasFeature(Embedded)
import ClientSocket
import LinuxSystem

/// A broker of one program's own, in a process of its own, which no other program can reach: for tests, sandboxes and
/// containers.
///
/// It owns its state directory, and refuses one that has an owner. It ends with its connection.
public struct PrivateBroker: Sendable, Equatable {
  /// The state directory.
  public var state: String
  /// The configuration file; nil: the usual one, or none.
  public var configuration: String?
  /// The daemon's program; nil: `AUTHBROKER_DAEMON`, or `authbrokerd` beside the running program or in `PATH`.
  public var program: String?

  /// Describes a private broker.
  public init(state: String, configuration: String? = nil, program: String? = nil) {
    self.state = state
    self.configuration = configuration
    self.program = program
  }

  /// Starts it with one end of a pair of sockets as its standard input and output.
  func start() throws(ClientError) -> (socket: Int32, child: ChildProcess) {
    let environment = Environment.forDaemon(Environment.current)
    let path = program ?? OwnerLauncher.daemon(environment: EnvironmentVariables(environment))
    var arguments = ["--state", state, "--stdio"]
    if let configuration { arguments += ["--config", configuration] }
    var plan = ChildProcess.Plan(path: path, arguments: arguments, environment: environment)
    do throws(Errno) {
      return try UnixSocket.pair().ends { (ours, theirs) throws(Errno) in
        plan.descriptors = [(theirs.number, 0), (theirs.number, 1), (2, 2)]
        let child = try ChildProcess(plan)
        return (ours.release(), child)
      }
    } catch { throw .noBroker(reason: ConnectError.noDaemon(path: path, error).description) }
  }
}
#endif
