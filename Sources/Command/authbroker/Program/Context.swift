import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem
import StateDirectory

/// The context of a command: its arguments and environment, and the way to the broker.
struct Context: Sendable {
  /// The command line.
  let arguments: Arguments
  /// The environment.
  let environment: EnvironmentVariables
  /// Whether the command's connections show that it has the state directory.
  var isAdministrative = false

  /// Whether the results are to be JSON.
  var wantsJSON: Bool { arguments.has("--json") }

  /// Whether a person can be asked.
  ///
  /// Standard input decides: a script that was given none must not wait for a person because it happens to run in a
  /// terminal.
  var canAsk: Bool { Terminal.isTerminal(0) }

  /// The highlighting of words.
  var style: Style { Style(environment: environment) }

  /// The profile that the command is about: the one that is named, else the current one; nil where the broker chooses.
  ///
  /// - Throws: a usage failure for what cannot be a profile's name.
  func profile() throws(CommandFailure) -> ProfileName? {
    if let named = try arguments.profile() { return named }
    return try CurrentProfile.find(environment)
  }

  /// The files of the state directory.
  ///
  /// - Throws: a failure that names `--state` if nothing says where it is.
  func paths() throws(CommandFailure) -> StatePaths {
    let options = StatePaths.Options(
      state: arguments["--state"], socket: arguments["--socket"], configuration: arguments["--config"])
    do throws(StatePaths.Refusal) {
      return try StatePaths(
        options, environment: environment, workingDirectory: ProcessIdentity.workingDirectory)
    } catch {
      guard case .empty = error else { throw CommandFailure(.failure, error.description) }
      throw .usage(error.description)
    }
  }

  /// How long a broker that has begun to end may take: it awaits refreshes that are under way.
  private static let longestEnd = Duration.seconds(30)

  /// Finds the broker; starts one unless `--no-start` or the command itself forbids it.
  func connector(mayStart: Bool = true) throws(CommandFailure) -> BrokerConnector {
    let isAllowed = mayStart && !arguments.has("--no-start")
    if isAllowed, let missing = missingState {
      throw .usage(
        missing + "; create it first, or name it by its absolute path: no broker is started by a relative one")
    }
    var launcher = isAllowed ? OwnerLauncher(environment: environment) : nil
    let paths = try paths()
    launcher?.willStart = { [environment] in RootHome.warn(environment, paths) }
    return BrokerConnector(paths: paths, environment: environment, launcher: launcher)
  }

  /// Says of a state directory, which is named by where this program happens to run, that it is not there; nil elsewhere.
  var missingState: String? {
    guard let state = arguments["--state"], !state.isEmpty, !PathName.isAbsolute(state) else { return nil }
    let path = PathName.absolute(state, in: ProcessIdentity.workingDirectory)
    guard (try? FileStatus.following(path)) == nil else { return nil }
    return "--state \(state.shellQuoted) means \(path.shellQuoted), which does not exist yet"
  }

  /// Connects, and warns once of a broker of another version.
  func connect(mayStart: Bool = true) throws(CommandFailure) -> BlockingConnection {
    let connector = try connector(mayStart: mayStart)
    do throws(ConnectError) {
      let connection = try connector.connect()
      warn(of: connection.owner)
      warn(ofSocket: connection.owner)
      return self.connection(connection)
    } catch { throw CommandFailure(error) }
  }

  /// Connects to the broker that runs; nil if the state directory has no owner.
  func connectToRunning() throws(CommandFailure) -> BlockingConnection? {
    let connector = try connector(mayStart: false)
    do throws(ConnectError) {
      let connection = try connector.connect()
      warn(of: connection.owner)
      return self.connection(connection)
    } catch {
      guard case .notRunning(_, startable: true) = error, !FileLock.isHeld(try paths().ownerLock) else {
        throw CommandFailure(error)
      }
      return nil
    }
  }

  /// A connection for requests, the first of which shows access to the state directory where the command is to show it.
  func connection(_ found: consuming BrokerConnector.Connection) -> BlockingConnection {
    var connection = BlockingConnection(found)
    connection.provesFirst = isAdministrative
    return connection
  }

  /// Says so if the owner's program is another than this one.
  func warn(of owner: OwnerRecord?) {
    guard let owner, !ProgramVersion.agrees(with: owner.version) else { return }
    let version = PlainText.line(owner.version.utf8)
    let text = "the running broker has version \(version), this program \(ProgramVersion.current)"
    notice(Message(text, next: NextCommand("restart it with", "stop")))
  }

  /// Says so if `--socket` names another socket than the running broker's.
  private func warn(ofSocket owner: OwnerRecord?) {
    guard arguments.has("--socket"), let owner, let paths = try? paths(), owner.socket != paths.socket else { return }
    let here = try? FileStatus.following(paths.socket).identity
    guard here == nil || here != (try? FileStatus.following(owner.socket).identity) else { return }
    let text =
      "the running broker listens on \(owner.socket), not on \(paths.socket): --socket is for one that is started"
    notice(Message(text, next: NextCommand("to change over, end it with", "stop")))
  }

  /// Prints a message for a person, with the next command for this command line's broker.
  func tell(_ message: Message) { Output.message(message.shown(for: arguments)) }

  /// Tells it, unless notices are left out.
  func notice(_ message: Message) { Output.notice(message.shown(for: arguments)) }

  /// Ends a command that has no result: prints the statement, or an empty object.
  func finish(_ sentence: String, next: NextCommand? = nil) {
    if wantsJSON { printJSON(Empty()) } else { notice(Message(sentence, next: next)) }
  }

  /// Calls a method on a connection.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - params: what it takes.
  ///   - connection: where it is sent.
  ///   - limit: how long to wait, where `--timeout` does not say; nil: as long as the method may take.
  /// - Returns: what the method gives.
  /// - Throws: a failure with the exit code for it.
  func call<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, on connection: inout BlockingConnection,
    within limit: Duration? = nil
  ) throws(CommandFailure) -> Method.Result {
    let timeout = try arguments.seconds("--timeout") ?? limit
    do throws(ClientError) { return try connection.request(method, params, timeout: timeout) } catch {
      guard error.isRefusalOfEndingBroker else { throw failure(error) }
    }
    // Nothing was done of it.
    connection = try connectToNext(after: connection.owner)
    do throws(ClientError) { return try connection.request(method, params, timeout: timeout) } catch {
      throw failure(error)
    }
  }

  /// Connects to the next broker once the one that ends has ended: only then may the next one start.
  private func connectToNext(after owner: OwnerRecord?) throws(CommandFailure) -> BlockingConnection {
    let lock = try paths().ownerLock
    let deadline = BootClock.now + Self.longestEnd
    var pause = PollSet(count: 1)
    // Another one's broker is on a socket that was chosen, and its lock is not known.
    while let owner, FileLock.isHeld(lock), OwnerRecord(at: lock) ?? owner == owner, BootClock.now < deadline {
      _ = try? pause.wait(atMost: .milliseconds(10))
    }
    return try connect()
  }

  /// Calls a method that changes nothing, and gives the text of its result, which the caller wipes if it holds a secret.
  ///
  /// Where the broker ends before it answers, another one is asked, once: a token is worth a second try.
  func text(
    of method: String, _ params: some JSONEncodable
  ) throws(CommandFailure) -> [UInt8] {
    var connection = try connect()
    return try text(of: method, params, on: &connection) { error in error.isEndOfBroker }
  }

  /// Calls a method on a connection and gives the text of its result, which the caller wipes if it holds a secret.
  ///
  /// Where the broker has begun to end, the next one is asked once it has ended.
  ///
  /// - Parameters:
  ///   - method: its name.
  ///   - params: what it takes.
  ///   - connection: where it is sent; another one afterwards, where another broker was asked.
  ///   - limit: how long to wait, where `--timeout` does not say; nil: as long as the method may take.
  ///   - isRepeated: which errors are followed by a second try.
  /// - Returns: the text of the result.
  /// - Throws: a failure with the exit code for it.
  func text(
    of method: String, _ params: some JSONEncodable, on connection: inout BlockingConnection,
    within limit: Duration? = .seconds(60),
    repeatedAfter isRepeated: (ClientError) -> Bool = { error in error.isRefusalOfEndingBroker }
  ) throws(CommandFailure) -> [UInt8] {
    let timeout = try arguments.seconds("--timeout") ?? limit
    do throws(ClientError) { return try connection.callForText(method, params, timeout: timeout) } catch {
      guard isRepeated(error) else { throw failure(error) }
    }
    connection = try connectToNext(after: connection.owner)
    do throws(ClientError) { return try connection.callForText(method, params, timeout: timeout) } catch {
      throw failure(error)
    }
  }

  /// Calls a method; with `--json` its result is printed as it came.
  ///
  /// - Returns: the result; nil if it was printed.
  func ask<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) throws(CommandFailure) -> Method.Result? {
    var connection = try connect()
    guard wantsJSON else { return try call(method, params, on: &connection) }
    Output.json(try text(of: Method.name, params, on: &connection))
    return nil
  }

  /// The failure of a call that has no result.
  ///
  /// A time that was chosen and is over is no missing broker: it has the code of all that takes too long.
  func failure(_ error: ClientError) -> CommandFailure {
    guard error == .timedOut, arguments.has("--timeout") else { return CommandFailure(error).naming(arguments) }
    return .late("the broker did not answer \(withinTimeout)")
  }

  /// The time that the command line allows, as `within 2 s (--timeout)`.
  var withinTimeout: String { arguments["--timeout"].map { "within \($0.shellQuoted) s (--timeout)" } ?? "in time" }

  /// Refuses operands beyond those that the command knows.
  func expectOperands(
    _ range: ClosedRange<Int>, of description: @autoclosure () -> CommandDescription
  ) throws(CommandFailure) {
    let count = arguments.operands.count
    guard !range.contains(count) else { return }
    let description = description()
    // What is too much is not repeated, but for a word of this program's own: it may be a secret.
    let known = CommandList.withMembers.flatMap { $0.name.split(separator: " ").map(String.init) }
    let tools = ToolSetup.all.flatMap { [$0.name] + $0.otherNames }
    let extra = arguments.operands.dropFirst(range.upperBound).first.flatMap { (known + tools).contains($0) ? $0 : nil }
    let problem =
      count < range.lowerBound
      ? "missing argument \(description.requiredOperands[count])"
      : "unexpected argument" + (extra.map { " " + $0 } ?? "")
    var failure = CommandFailure(.usage, "\(problem); usage: \(description.usage)")
    guard range.upperBound == 0, Self.commandsOfProfiles.contains(description.name), !arguments.has("--profile")
    else { throw failure }
    let takesSecrets = description.options.contains { $0.name.hasSuffix("-stdin") }
    if count == 1, !takesSecrets, let profile = ProfileName(arguments.operands[0]) {
      let words = [description.name, "-p", profile.description]
      failure.message.next = NextCommand("for the profile \(profile)", words: words)
    } else {
      failure.message.sentence += "; a profile is named with -p"
    }
    throw failure
  }

  /// The commands after which a word may be meant as a profile's name.
  private static let commandsOfProfiles = [
    "token", "header", "status", "sessions", "profiles", "whoami", "logout", "watch", "login", "register",
    "reauthenticate",
  ]
}

extension ClientError {
  /// Whether the broker has begun to end, and so did nothing of the request.
  fileprivate var isRefusalOfEndingBroker: Bool {
    if case .broker(let error) = self { error.kind == .shuttingDown } else { false }
  }

  /// Whether the broker went away, and the next one may answer.
  fileprivate var isEndOfBroker: Bool {
    switch self {
    case .connectionLost: true
    case .broker(let error): error.kind == .shuttingDown
    case .noBroker, .unresponsive, .timedOut, .cancelled, .unexpectedAnswer: false
    }
  }
}
