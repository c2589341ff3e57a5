package import BrokerCore
package import BrokerProtocol
import JSON
import LinuxSystem
package import Logging
package import Transport

/// The JSON-RPC protocol of the broker, with the state of its requests over all connections.
struct RPC: ~Copyable {
  /// The broker.
  let broker: Broker
  /// The services of the program around the server.
  let environment: BrokerServer.Environment
  /// When the server started.
  let startedAt: Timestamp
  /// The same, on the clock that never jumps.
  let startedUptime = BootClock.now
  /// When the configuration was last read and taken over.
  var configurationReadAt: Timestamp
  /// Requests that wait for their answer.
  var requests = NamedTable<CallerID, PendingRequest>(CallerID.init)
  /// Questions for addresses that wait for another configuration to be taken over.
  var heldQuestions: [AddressQuestion] = []
  /// Batches that wait for answers.
  var batches = NamedTable<UInt64, PendingBatch> { $0 }
  /// The answers to requests for cached tokens of the turn at hand.
  var tokens: TokenAnswers
  /// The structure of the message at hand.
  var tape = JSONTape()
  /// The unknown parameters of recent requests, for the log.
  var ignoredParameters = IgnoredParameters()
  /// The OpenRPC document, rendered once.
  private(set) lazy var discovery = environment.discovery()

  /// The protocol of a server that has just started.
  init(_ broker: Broker, _ environment: BrokerServer.Environment, _ limits: Limits, startedAt: Timestamp) {
    self.broker = broker
    self.environment = environment
    self.startedAt = startedAt
    configurationReadAt = startedAt
    tokens = TokenAnswers(from: broker.answers, limits)
  }
}

extension BrokerServer {
  /// A server without connections.
  package init(
    loop: EventLoop, broker: Broker, limits: Limits, environment: Environment, log: Logger, startedAt: Timestamp
  ) {
    self.init(
      loop, RPC(broker, environment, limits, startedAt: startedAt), limits, broker.ledger, log,
      TurnClock { broker.milliseconds })
  }

  /// The services of the program around the server.
  package struct Environment: Sendable {
    /// Takes the profiles of the configuration that was read again, or the reason why it was not adopted.
    package typealias ReloadReply = @Sendable (Result<[ProfileName], BrokerError>) -> Void

    /// Reads the configuration again and hands it to the broker.
    package var reload: @Sendable (@escaping ReloadReply) -> Void
    /// The OpenRPC document.
    package var discovery: @Sendable () -> [UInt8]
    /// Called once, when ``BrokerServer/drain()`` begins.
    package var stopping: @Sendable () -> Void = {}
    /// Called once, when the last connection is closed after ``BrokerServer/drain()``, or has had its time.
    package var stopped: @Sendable () -> Void
    /// The directory of proofs.
    package var proofs: ProofDirectory
    /// The directory of the embedded provider's accounts; nil where no profile has used that provider since the start.
    package var directory: @Sendable () -> (any AccountDirectory)?
    /// The types of provider that can be configured.
    package var providers: [(name: String, abilities: Set<ProviderAbility>)]
    /// The outcomes of the embedded provider's deliveries; empty where it is not in use.
    package var delivery: @Sendable () -> [GetStatus.Delivery] = { [] }
    /// The certificate authorities trusted beside the system's.
    package var authorities: @Sendable () -> [GetStatus.Authority] = { [] }
    /// The limited sockets.
    package var sockets = SocketServices()
    /// The doors.
    package var doors = DoorServices()
    /// The processes from one on to its oldest ancestor, for questions to the owner.
    package var ancestry: @Sendable (Int32) -> [ProcessLink] = { ProcessLink.ancestry(of: $0) }
    /// The servers, each with the profile whose token it gets.
    package var targets: @Sendable () -> TargetMap = { TargetMap() }
    /// The file of the vault; nil where sessions rest elsewhere.
    package var vaultFile: String?
    /// The version of the program.
    package var version: String

    /// The required services; the others are set afterwards.
    package init(
      reload: @escaping @Sendable (@escaping ReloadReply) -> Void, discovery: @escaping @Sendable () -> [UInt8],
      stopped: @escaping @Sendable () -> Void, proofs: ProofDirectory,
      directory: @escaping @Sendable () -> (any AccountDirectory)?,
      providers: [(name: String, abilities: Set<ProviderAbility>)], version: String
    ) {
      (self.reload, self.discovery, self.stopped, self.directory) = (reload, discovery, stopped, directory)
      (self.proofs, self.providers, self.version) = (proofs, providers, version)
    }
  }

  /// The broker.
  var broker: Broker { rpc.broker }
  /// The services of the program around the server.
  var environment: Environment { rpc.environment }

  /// Asks the broker for an immediate answer.
  func asked<Value: Sendable>(
    _ question: @Sendable (isolated Broker) throws(BrokerError) -> Value
  ) throws(BrokerError) -> Value {
    try broker.assumeIsolated { broker in
      Result { () throws(BrokerError) in try question(broker) }
    }.get()
  }

  // MARK: What the host asks

  /// Begins the end of the broker: no login is waited for any longer, and subscribers are told.
  func beginEnd() {
    broker.assumeIsolated { broker in
      broker.announceShutdown()
      broker.saveUnsaved { _ in }
      broker.refuseLoginWaiters()
      broker.stopTrials()
    }
  }

  /// How many answers of providers are awaited that come only once.
  var awaitedOnce: Int { broker.assumeIsolated { $0.awaitedOnce } }
  /// Whether something is under way that must not be lost.
  var hasWork: Bool { broker.assumeIsolated { $0.hasWork } }
  /// Whether the broker is in use though no client is there.
  var isBusy: Bool { broker.assumeIsolated { $0.isBusy } || environment.sockets.areOpened }

  // MARK: What the program around asks

  /// Notes that the configuration in use is the file's present one.
  package func noteConfigurationRead(at time: Timestamp) { rpc.configurationReadAt = time }

  /// Handles a notice of the broker, but for problems, which are for the administrator's log.
  package nonisolated func take(_ notice: BrokerNotice) {
    assumeIsolated { server in
      switch notice {
      case .answer(let answer, let caller): server.answer(caller, answer)
      case .used(let grant, let principal): server.audit(grant, to: principal)
      case .subscribed(let subscription): server.begin(subscription)
      case .missed(let page): server.take(page)
      case .delivery(let delivery): server.deliver(delivery)
      case .told(let event): server.log.write(event)
      case .locked:
        server.noteBatchedTokens()
        server.dropUnreadTokens()
      case .idle: server.finishIfDone()
      case .consentDecided(let decision): server.note(decision)
      case .consentAsked, .problem, .audit: break
      }
    }
  }
}
