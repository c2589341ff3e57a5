import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import LinuxSystem
import Logging
import StateDirectory
import Transport
import Vault

/// Wires the parts together, and takes them apart again in order.
actor Daemon {
  /// The thread of everything but the disk.
  nonisolated let loop: EventLoop
  // The loop is kept alive by the property above for as long as the actor lives.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  private let arguments: DaemonArguments
  private let lock: OwnerLock
  private let source: ConfigurationSource
  private let descriptorLimit: Int
  private let environment: [String: String]
  private let report: ReadyReport
  private let output: DaemonLog
  private let log: Logger
  private var configuration: BrokerConfiguration
  private var vault: Vault?
  private var server: BrokerServer?
  private var broker: Broker?
  private let providers: ProviderCatalog
  private var hasReceivedStop = false
  /// The last reload that was begun: they are done one after the other.
  private var reloading: Task<Void, Never>?

  /// How the run ended: an exit code, or why it never began.
  private(set) var verdict: Result<Int32, StartFailure> = .success(0)

  /// A daemon that has its lock and its configuration, and has started nothing yet.
  init(
    loop: EventLoop, arguments: DaemonArguments, lock: consuming OwnerLock, source: ConfigurationSource,
    configuration: BrokerConfiguration, descriptorLimit: Int, environment: [String: String], report: ReadyReport
  ) {
    self.loop = loop
    self.arguments = arguments
    self.lock = lock
    self.source = source
    self.configuration = configuration
    self.descriptorLimit = descriptorLimit
    self.environment = environment
    self.report = report
    output = DaemonLog(arguments, source.paths, LogLevel(configuration.logLevel), environment)
    log = output.logger
    providers = ProviderCatalog(stateDirectory: source.paths.state, environment: environment, log: output.logger)
  }

  // MARK: Start

  /// Awaits what belongs to no actor away from the global pool, which blocks its caller where it gets no thread.
  private func apart<Value, Failure>(_ operation: () async throws(Failure) -> Value) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(TaskThread.shared, operation: operation)
  }

  /// Starts, and says so, or ends.
  func begin() {
    Task {
      do throws(StartFailure) {
        try await apart { () throws(StartFailure) in try await start() }
        report.ready()
      } catch {
        verdict = .failure(error)
        await apart { await closeStores() }
        loop.stop()
      }
    }
  }

  /// Writes what the log still has to say, within a bound: the last thing before the end of the process.
  func finishLog() { output.finish() }

  private func start() async throws(StartFailure) {
    let channel = try takeOverStandardStreams()
    try output.start()
    do throws(Errno) { try TaskThread.shared.start() } catch { throw StartFailure(noThread: error) }
    let (log, report) = (self.log, self.report)
    let opened = try await VaultOpening.open(source.paths, configuration.vault, environment) { limit in
      log.notice("waiting for the vault's key command", .number("seconds", Int(limit.components.seconds)))
      report.waiting(atMost: limit)
    }
    vault = opened.vault
    if opened.hasPredecessor { log.notice("the vault is new: the files of an earlier one are missing") }
    let providerKey = opened.vault.providerKey
    providers.sealingKey = { providerKey.key }
    let profiles = try providers.settings(for: configuration)
    let broker = Broker(
      executor: loop, background: TaskThread.shared, profiles: profiles, store: opened.vault,
      status: opened.status, clock: SystemClock(loop: loop, log: log), entropy: opened.vault.entropy)
    let server = BrokerServer(
      loop: loop, broker: broker, limits: configuration.limits.fitting(descriptorLimit: descriptorLimit),
      environment: surroundings, log: log, startedAt: WallClock.timestamp)
    self.broker = broker
    self.server = server
    await broker.start(with: opened.contents) { [log] notice in
      server.take(notice)
      if case .trouble(let trouble) = notice { log.write(trouble) }
    }
    if opened.contents == nil { log.notice("the vault is locked: run `authbroker unlock`") }
    watchNetwork(broker)
    providers.start()
    try open(server, channel)
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
  private func open(_ server: BrokerServer, _ channel: consuming StdioChannel?) throws(StartFailure) {
    ProofDirectory(path: source.paths.state).removeLeftovers()
    let socket = try listen(server)
    do throws(Errno) {
      if let channel { try server.take(channel) }
    } catch {
      throw StartFailure(kind: .failed, message: "the broker cannot accept connections: \(error)")
    }
    log.notice(
      "ready", .word("socket", socket.isEmpty ? "none" : socket), .number("pid", Int(ProcessIdentity.pid)),
      .word("version", ProgramVersion.current))
    guard arguments.mode == .owner(isOnDemand: true) else { return }
    let patience = configuration.linger
    server.assumeIsolated { $0.endWhenIdle(for: patience) }
  }

  /// Listens on the socket, and tells clients where.
  ///
  /// A socket that a service manager passed is taken (sd_listen_fds(3)), and the record names the path that it has, not
  /// the configured one. An owner on standard input and output goes on without a socket where a sandbox forbids one.
  ///
  /// - Returns: where it listens; empty for no socket.
  private func listen(_ server: BrokerServer) throws(StartFailure) -> String {
    var path = source.paths.socket
    do {
      if let socket = try SocketActivation.takeOver(environment: environment, pid: ProcessIdentity.pid) {
        path = socket.path
        try server.listen(socket)
      } else {
        try server.listen(try lock.listen(at: path))
      }
    } catch {
      guard arguments.mode == .privateOwner else { throw StartFailure(kind: .pathRefused, message: "\(error)") }
      log.warning("no socket", .word("path", path), .word("reason", "\(error)"))
      path = ""
    }
    let record = OwnerRecord(
      pid: ProcessIdentity.pid, version: ProgramVersion.current, configuration: source.paths.configuration,
      socket: path, startedAt: WallClock.timestamp.description)
    do throws(Errno) {
      try lock.publish(record)
    } catch {
      throw StartFailure(kind: .pathRefused, message: "\(source.paths.ownerLock) cannot be written: \(error)")
    }
    return path
  }

  private var surroundings: BrokerServer.Environment {
    BrokerServer.Environment(
      reload: { [weak self] reply in self?.assumeIsolated { $0.reload(reply) } },
      discovery: { OpenRPCDocument.text },
      stopped: { [weak self] in self?.assumeIsolated { $0.end() } },
      proofs: ProofDirectory(path: source.paths.state),
      directory: { [weak self] in self?.assumeIsolated { $0.providers.directory } },
      providers: ProviderType.all.map { ($0.name, $0.abilities) }, delivery: providers.deliveryReports,
      targets: { [weak self] in self?.assumeIsolated { $0.configuration.targets } ?? TargetMap() },
      version: ProgramVersion.current)
  }

  // MARK: Change and end

  /// Reads the configuration again; one that is not valid changes nothing.
  private func reload(_ reply: @escaping BrokerServer.Environment.ReloadReply) {
    let previous = reloading
    reloading = Task {
      await previous?.value
      let result = await apart { await takeOver() }
      if case .failure(let error) = result {
        let reason = LogField.word("reason", error.message)
        if error.kind == .configInvalid {
          log.error("the configuration was rejected; the current one is kept", reason)
        } else {
          log.error("the configuration was not reloaded; the current one is kept", reason)
        }
      }
      reply(result)
    }
  }

  /// Applies the current configuration; what says the same as before is no event.
  private func takeOver() async -> Result<[ProfileName], BrokerError> {
    guard let broker, let server else { return .failure(BrokerError(.shuttingDown)) }
    let (readAt, fresh): (Timestamp, BrokerConfiguration)
    do throws(StartFailure) {
      // A file that is gone for a moment, as while an editor saves it, takes no profile away.
      let mayBeMissing = configuration == .standard
      (readAt, fresh) = (WallClock.timestamp, try await ConfigurationReader.read(source, mayBeMissing: mayBeMissing))
    } catch {
      return .failure(BrokerError(error.kind == .configInvalid ? .configInvalid : .overloaded, error.message))
    }
    if fresh != configuration, let failure = await takeOver(fresh, broker, server) { return .failure(failure) }
    await server.noteConfigurationRead(at: readAt)
    return .success(fresh.profiles.map(\.name))
  }

  private func takeOver(
    _ fresh: BrokerConfiguration, _ broker: Broker, _ server: BrokerServer
  ) async -> BrokerError? {
    let profiles: [ProfileSettings]
    do throws(StartFailure) {
      profiles = try providers.settings(for: fresh)
    } catch {
      return BrokerError(error.kind == .configInvalid ? .configInvalid : .overloaded, error.message)
    }
    do throws(StoreFailure) {
      try await broker.reconfigure(profiles)
    } catch {
      return BrokerError(.storeFailed)
    }
    await providers.update(to: fresh)
    if fresh.vault != configuration.vault { log.warning("changed vault settings take effect at the next start") }
    configuration = fresh
    await server.setLimits(fresh.limits.fitting(descriptorLimit: descriptorLimit))
    if arguments.mode == .owner(isOnDemand: true) { await server.endWhenIdle(for: fresh.linger) }
    log.setLevel(LogLevel(fresh.logLevel))
    log.notice("configuration reloaded", .number("profiles", profiles.count))
    return nil
  }

  /// Obeys a signal: the first one to stop drains, a second one ends at once.
  func received(_ signal: Signal) {
    switch signal {
    case .hangUp: reload { _ in }
    default:
      guard !hasReceivedStop, let server else { ProcessImage.end(1) }
      hasReceivedStop = true
      log.notice("stopping on a signal")
      server.assumeIsolated { $0.drain() }
    }
  }

  /// Closes what rests on disk, and lets the loop return.
  ///
  /// What could not be saved in time is lost, and the process ends with that.
  private func end() {
    Task {
      await apart { await closeStores() }
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

  private func closeStores() async {
    do throws(VaultError) {
      try await vault?.close()
    } catch {
      log.error("the vault was not closed cleanly", .word("reason", error.description))
    }
    await providers.close()
  }
}
