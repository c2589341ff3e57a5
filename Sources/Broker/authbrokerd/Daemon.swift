import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import Hooks
import LinuxSystem
import Logging
import ProviderKit
import Records
import SQLiteStore
import StateDirectory
import Transport

/// Wires the parts together, and takes them apart again in order.
actor Daemon {
  /// The thread of everything but the disk.
  nonisolated let loop: EventLoop
  // The loop is kept alive by the property above for as long as the actor lives.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// The command line.
  let arguments: DaemonArguments
  /// The lock that makes this process the owner.
  let lock: OwnerLock
  /// The source of the configuration.
  let source: ConfigurationSource
  /// How many descriptors the process may have open.
  let descriptorLimit: Int
  /// The variables that it was started with.
  let environment: [String: String]
  private let report: ReadyReport
  /// Reports the start, each reload and the end to the service manager.
  let serviceReport: ServiceReport
  private let output: DaemonLog
  /// The log.
  let log: Logger
  /// The configuration in use.
  var configuration: BrokerConfiguration
  private var vault: Vault?
  /// Answers clients; nil before the vault is open.
  var server: BrokerServer?
  /// Decides; nil before the vault is open.
  var broker: Broker?
  /// The providers of the profiles.
  let providers: ProviderCatalog
  /// The programs that are run for events.
  let hooks: EventHooks
  /// The owner's program that answers questions whether clients may have tokens.
  let consentProgram: ConsentProgram
  /// The path of the socket; empty for none.
  var socket = ""
  /// The limited sockets.
  var limitedSockets: [LimitedListener] = []
  /// The open doors.
  var doors: [OpenedDoor] = []
  /// The limited sockets that a service manager has passed.
  var passedSockets = SocketActivation()
  /// Tells when a socket's path may have gone.
  var socketWatcher: DirectoryWatcher?
  /// Whether that watches the directory of every socket.
  var areSocketsWatched = false
  /// Tells when the lock's path may have gone.
  var stateWatcher: DirectoryWatcher?
  /// Whether it will be looked whether the sockets' paths are there.
  var willLookAtSockets = false
  private let startedAt = WallClock.timestamp.description
  private var isInterrupted = false
  /// Whether the broker takes no new request any more.
  var isStopping = false
  /// The last reload that was begun: they are done one after the other.
  var reloading: Task<Void, Never>?

  /// The outcome of the run: an exit code, or why it never began.
  private(set) var verdict: Result<Int32, StartFailure> = .success(0)

  /// A daemon that has its lock and its configuration, and has started nothing yet.
  init(
    loop: EventLoop, arguments: DaemonArguments, lock: consuming OwnerLock, source: ConfigurationSource,
    configuration: BrokerConfiguration, descriptorLimit: Int, environment: [String: String], report: ReadyReport,
    serviceReport: ServiceReport
  ) {
    self.loop = loop
    self.arguments = arguments
    self.lock = lock
    self.source = source
    self.configuration = configuration
    self.descriptorLimit = descriptorLimit
    self.environment = environment
    self.report = report
    self.serviceReport = serviceReport
    output = DaemonLog(arguments, source.paths, LogLevel(configuration.logLevel), environment)
    log = output.logger
    let passed = Environment.withoutManagerVariables(environment)
    providers = ProviderCatalog(stateDirectory: source.paths.state, environment: passed, log: output.logger)
    hooks = EventHooks(environment: passed, log: output.logger)
    consentProgram = ConsentProgram(environment: passed, log: output.logger)
  }

  // MARK: Start

  /// Awaits an operation of no actor away from the global pool, which blocks its caller where it gets no thread.
  func apart<Value, Failure>(_ operation: () async throws(Failure) -> Value) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(TaskThread.shared, operation: operation)
  }

  /// Starts, and says so, or ends.
  func begin() {
    feedWatchdog()
    Task {
      do throws(StartFailure) {
        try await apart { () throws(StartFailure) in try await start() }
        report.ready()
        serviceReport.ready(status)
      } catch {
        verdict = .failure(error)
        await apart { await closeVault() }
        await apart { await providers.close() }
        loop.stop()
      }
    }
  }

  /// Writes the rest of the log, within a time limit: the last thing before the end of the process.
  func finishLog() { output.finish() }

  private func start() async throws(StartFailure) {
    let channel = try takeOverStandardStreams()
    try output.start()
    do throws(Errno) { try TaskThread.shared.start() } catch { throw StartFailure(noThread: error) }
    warnOfOutdatedKeys()
    let entropy = SealedEntropy()
    let opening = openVault(entropy)
    // The vault is read on its own thread meanwhile.
    let settings = Result { () throws(StartFailure) in try providers.settings(for: configuration) }
    // What is wrong with the vault is told first: until then, a configuration that failed has no profiles.
    let profiles = FirstProfiles((try? settings.get()) ?? [], entropy: entropy, boot: BootClock.boot)
    let opened = try await opening.value.get()
    vault = opened.vault
    if opened.hasPredecessor { log.notice("the vault is new: the files of an earlier one are missing") }
    providers.vaultKey.use(opened.vault.providerKey)
    _ = try settings.get()
    let names = AccountNames()
    let policy = try names.policy(of: configuration)
    let broker = Broker(
      executor: loop, background: TaskThread.shared, profiles: profiles, store: opened.vault,
      status: opened.status, clock: SystemClock(loop: loop, log: log), entropy: entropy,
      trials: ProviderTrial.self)
    let server = BrokerServer(
      loop: loop, broker: broker, limits: limits(of: configuration), environment: surroundings, log: log,
      startedAt: WallClock.timestamp)
    (self.broker, self.server) = (broker, server)
    await broker.setAutoLock(configuration.vault.autoLock)
    await adoptPrograms(of: configuration, broker)
    await broker.start(with: opened.contents, notify: distribute(to: server))
    if opened.contents == nil { log.notice("the vault is locked: run `authbroker unlock`") }
    await server.setAccess(AccessTable(policy, profiles: configuration.profiles.map(\.name)))
    await server.setAudit(configuration.isAudited(opensSockets: false))
    await broker.settleAudit()
    watchNetwork(broker)
    providers.start()
    try open(server, names, channel)
  }

  /// Begins to open the vault, apart from the loop.
  private func openVault(_ entropy: SealedEntropy) -> Task<Result<VaultOpening.Opened, StartFailure>, Never> {
    let (log, report, serviceReport) = (self.log, self.report, self.serviceReport)
    let (paths, configuration) = (source.paths, configuration.vault)
    let passed = Environment.withoutManagerVariables(environment)
    return Task(executorPreference: TaskThread.shared) {
      do throws(StartFailure) {
        let opened = try await VaultOpening.open(paths, configuration, passed, entropy) { limit in
          log.notice("waiting for the vault's key command", .number("seconds", Int(limit.components.seconds)))
          report.waiting(atMost: limit)
          serviceReport.waitingForKey(atMost: limit)
        }
        return .success(opened)
      } catch { return .failure(error) }
    }
  }

  /// Learns from the kernel that the network may be back; where a sandbox forbids that, back-off alone decides.
  private func watchNetwork(_ broker: Broker) {
    do throws(Errno) {
      // The loop keeps it for as long as the process lives.
      _ = try NetworkWatcher(loop: loop, socket: try RouteSocket()) { [weak broker] in
        broker?.assumeIsolated { $0.networkMayHaveChanged() }
      }
    } catch {
      log.notice("network changes are not monitored", .word("reason", error.description))
    }
  }

  private func takeOverStandardStreams() throws(StartFailure) -> StdioChannel? {
    guard arguments.mode == .privateOwner else { return nil }
    do throws(Errno) {
      return try StdioChannel.takeOver()
    } catch {
      throw StartFailure(kind: .failed, message: "standard input or output cannot be used: \(error)")
    }
  }

  /// Begins to take connections; clients find the broker from here on.
  private func open(
    _ server: BrokerServer, _ names: AccountNames, _ channel: consuming StdioChannel?
  ) throws(StartFailure) {
    ProofDirectory(path: source.paths.state).removeLeftovers()
    socket = try listen(server)
    removeLeftSockets()
    openLimitedSockets(of: configuration, names, server)
    do throws(Errno) {
      if let channel { try server.take(channel) }
    } catch {
      throw StartFailure(kind: .failed, message: "the broker cannot accept connections: \(error)")
    }
    log.notice(
      "ready", .word("socket", socket.isEmpty ? "none" : socket), .number("pid", Int(ProcessIdentity.pid)),
      .word("version", ProgramVersion.current))
    watchState()
    guard arguments.mode == .owner(isOnDemand: true) else { return }
    let patience = configuration.linger
    server.assumeIsolated { $0.endWhenIdle(for: patience) }
  }

  /// The owner record for clients.
  func record(of socket: String) -> OwnerRecord {
    OwnerRecord(
      pid: ProcessIdentity.pid, version: ProgramVersion.current, configuration: source.paths.configuration,
      socket: socket, startedAt: startedAt, startTime: ProcessIdentity.startTime(of: ProcessIdentity.pid))
  }

  private var surroundings: BrokerServer.Environment {
    var surroundings = BrokerServer.Environment(
      reload: { [weak self] reply in self?.assumeIsolated { $0.reload(reply) } },
      discovery: { OpenRPCDocument.text },
      stopped: { [weak self] in self?.assumeIsolated { $0.end() } },
      proofs: ProofDirectory(path: source.paths.state),
      directory: { [weak self] in self?.assumeIsolated { $0.providers.directory } },
      providers: ProviderType.all.map { ($0.name, $0.abilities) }, version: ProgramVersion.current)
    surroundings.stopping = { [weak self] in self?.assumeIsolated { $0.noteStop() } }
    (surroundings.delivery, surroundings.vaultFile) = (providers.deliveryReports, source.paths.vault)
    surroundings.authorities = { [weak self] in self?.assumeIsolated { $0.providers.authorities } ?? [] }
    (surroundings.sockets, surroundings.doors) = (socketServices, doorServices)
    surroundings.targets = { [weak self] in self?.assumeIsolated { $0.configuration.targets } ?? TargetMap() }
    return surroundings
  }

  // MARK: End

  /// How long the end waits for hooks whose program runs: enough for a message to a desktop or a webhook; what takes longer
  /// is ended.
  private static let hookPatience = Duration.seconds(2)
  /// The same for a hook that is told of the end: its program begins when a whole session may be ending.
  private static let endHookPatience = Duration.seconds(10)

  /// Obeys a signal: the first one to stop drains, and a second Ctrl-C ends at once.
  ///
  /// A second SIGTERM does not: what sends it is a service manager or a script, which has SIGKILL for that, and a
  /// request under way may be the only copy of a session.
  func received(_ signal: Signal) {
    guard signal != .hangUp else { return reload { _ in } }
    guard let server, signal == .terminate || !isInterrupted else {
      ChildProcess.endGroups()
      ProcessImage.end(1)
    }
    if signal == .interrupt { isInterrupted = true }
    guard !isStopping else { return server.assumeIsolated { $0.drainGoesOn() } }
    log.notice("stopping on a signal")
    server.assumeIsolated { $0.drain() }
  }

  /// Closes what rests on disk, and lets the loop return.
  ///
  /// What could not be saved in time is lost, and the process ends with that.
  private func end() {
    removeOpenedDirectories()
    closeDoors { _ in true }
    consentProgram.close()
    Task {
      await broker?.endAudit()
      await apart { await closeVault() }
      await apart { await hooks.close(within: Self.hookPatience, toldOfEnd: Self.endHookPatience) }
      // Ends every program that runs, hooks' as well.
      await apart { await providers.close() }
      if let lost = await broker?.unsavedProfiles, !lost.isEmpty {
        let names = lost.map(\.description).joined(separator: ", ")
        verdict = .failure(
          StartFailure(kind: .storeFailed, message: "the newest state of \(names) is lost: it could not be saved"))
      }
      lock.withdraw()
      log.notice("stopped")
      loop.stop()
    }
  }

  private func closeVault() async {
    do throws(VaultError) { try await vault?.close() } catch {
      log.error("the vault was not closed cleanly", .word("reason", error.description))
    }
  }
}
