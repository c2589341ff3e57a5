import BrokerCore
import BrokerProtocol
import BrokerServer
import Glibc
import LinuxSystem
import Logging
import ProviderKit
import SecretMemory
import Synchronization
import TestSupport
import Transport

/// A server with a scripted provider on the loop of the test's own thread, and clients on socket pairs.
final class ServerHarness {
  let loop: EventLoop
  let clock: ManualClock
  let provider: ScriptedProvider
  let store: InMemoryStore
  let broker: Broker
  let server: BrokerServer
  /// Where clients prove that they have it.
  let stateDirectory = Scratch()

  /// Which servers get which profile's token.
  let targets = TargetBox()

  /// The ancestors of processes, and how questions to the owner have ended.
  let (ancestries, decisions) = (AncestryBox(), Decisions())
  /// How often the document of the methods was made.
  let renderings = CallCount()

  /// What the broker said is wrong.
  let reports = Reports()

  /// The usual limits, but for those by the real clock: instrumented, a test takes longer than a connection may stand
  /// still.
  static var patientLimits: Limits {
    var limits = Limits()
    limits[.stalledOutput] = 3_600_000
    limits[.incompleteMessage] = 3_600_000
    return limits
  }

  /// A server over a store, which it takes up unlocked unless the store is locked; a `clock` outlives a restart.
  init(
    limits: Limits = ServerHarness.patientLimits, profiles: [String] = ["default"],
    store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock(), providerType: String = "scripted",
    rules: SessionRules = SessionRules(),
    allowsIDToken: Bool = false, directory: (any AccountDirectory)? = nil, log: Logger = .silent,
    document: [UInt8] = Array("{}".utf8), targets: TargetMap = TargetMap(),
    prepare: (ScriptedProvider) -> Void = { _ in }
  ) throws {
    self.store = store
    self.clock = clock
    loop = try EventLoop()
    let loop = self.loop
    provider = ScriptedProvider(clock: clock, gate: GateExecutor { loop.post($0) }, type: providerType)
    let provider = self.provider
    prepare(provider)
    broker = Broker(
      executor: loop,
      profiles: profiles.compactMap(ProfileName.init).map {
        ProfileSettings(name: $0, provider: provider, rules: rules, allowsIDToken: allowsIDToken)
      },
      store: store, status: store.statusNow, clock: clock, entropy: CountingEntropy(),
      trials: ProviderTrial.self)
    let stop = StopFlag()
    let renderings = self.renderings
    var environment = BrokerServer.Environment(
      reload: { $0(.success([.default])) },
      discovery: {
        renderings.add()
        return document
      }, stopped: { stop.raise() }, proofs: ProofDirectory(path: stateDirectory.path), directory: { directory },
      providers: [("scripted", [])], version: "test")
    let map = self.targets
    map.value = targets
    environment.targets = { map.value }
    let ancestries = self.ancestries
    environment.ancestry = { ancestries.chain(of: $0) }
    environment.vaultFile = "/state/vault.sqlite"
    server = BrokerServer(
      loop: loop, broker: broker, limits: limits, environment: environment, log: log, startedAt: clock.now)
    stopFlag = stop
    let server = self.server
    let (reports, decisions) = (self.reports, self.decisions)
    broker.assumeIsolated { broker in
      broker.startSoon(store) { notice in
        server.take(notice)
        if case .problem(let problem) = notice { reports.add(problem) }
        if case .consentDecided(let decision) = notice { decisions.add(decision) }
      }
    }
    settle()
  }

  let stopFlag: StopFlag

  /// Lets everything happen that can happen without time passing.
  ///
  /// A continuation may come back by way of another thread: work that nobody holds is waited for, turn by turn.
  func settle() {
    for _ in 0..<30 { try? loop.runOnce() }
    var turns = 0
    // A continuation queues behind all tests that were begun; instrumented, those take minutes.
    let deadline = Patience.end
    while !provider.isHolding, !store.isHolding, broker.assumeIsolated({ $0.isWaiting }), BootClock.now < deadline {
      try? loop.runOnce()
      turns += 1
      // The other thread needs a processor too: with many tests at once a loop that only spins keeps it off.
      if turns > 100 { usleep(100) }
    }
    for _ in 0..<30 { try? loop.runOnce() }
    while server.assumeIsolated({ $0.hasQueue }), BootClock.now < deadline { try? loop.runOnce() }
  }

  /// Lets go of the connections: they, the server and the loop hold each other.
  deinit { server.assumeIsolated { $0.drain() } }

  /// How many clients have connected, each from another process unless one is named.
  private var clients: Int32 = 0

  /// A new client with these permissions, or with those that its entrance gives to a process of this unit and label.
  func connect(
    process named: Int32? = nil, as entrance: Entrance = .pair, _ permissions: Permissions? = nil,
    peer: PeerProcess? = nil
  ) throws -> TestClient {
    clients += 1
    let process = named ?? 1_000_000 + clients
    let pair = try UnixSocket.pair(nonBlocking: true)
    return try pair.ends { ours, theirs in
      try server.take(ours, process: process, as: entrance, permissions, peer: peer)
      return TestClient(theirs, self, process: process)
    }
  }
}

/// Whether the server has said that it is done.
final class StopFlag: Sendable {
  private let flag = Mutex(false)

  func raise() { flag.withLock { $0 = true } }

  var isRaised: Bool { flag.withLock { $0 } }
}

/// How often something was called.
final class CallCount: Sendable {
  private let number = Mutex(0)

  func add() { number.withLock { $0 += 1 } }

  var value: Int { number.withLock { $0 } }
}

/// What a broker said is wrong, in order.
final class Reports: Sendable {
  private let problems = Mutex<[BrokerNotice.Problem]>([])

  func add(_ problem: BrokerNotice.Problem) { problems.withLock { $0.append(problem) } }

  var all: [BrokerNotice.Problem] { problems.withLock { $0 } }
}

/// The client's end of a connection.
final class TestClient {
  private var descriptor: FileDescriptor?
  private let harness: ServerHarness
  let process: Int32
  private(set) var received: [UInt8] = []

  init(_ descriptor: consuming FileDescriptor, _ harness: ServerHarness, process: Int32) {
    self.descriptor = consume descriptor
    self.harness = harness
    self.process = process
  }

  /// Writes bytes and lets the server answer.
  func send(_ text: String) {
    send(Array(text.utf8))
  }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      if case .bytes(let count)? = descriptor?.send(bytes.span.extracting(sent...)) { sent += count }
      harness.settle()
    }
    harness.settle()
  }

  /// Writes as many bytes as the kernel takes, without a turn of the server's loop.
  ///
  /// - Returns: how many.
  func push(_ bytes: [UInt8]) -> Int {
    if case .bytes(let count)? = descriptor?.send(bytes.span) { count } else { 0 }
  }

  /// Reads what there is, without a turn of the server's loop.
  func pull() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case .bytes(let count)? = descriptor?.read(into: &buffer) { received += buffer[..<count] }
  }

  /// Writes one line and gives the lines that come back; where they ask for a proof, gives that and asks again.
  func ask(_ line: String) -> [String] {
    let answers = askBare(line)
    guard let proof = answers.lazy.compactMap({ ProofGiving.wanted(by: $0) }).first else { return answers }
    prove(proof)
    return askBare(line)
  }

  /// Writes one line and gives the lines that come back, as a client does that has nothing but the socket.
  func askBare(_ line: String) -> [String] {
    send(line + "\n")
    return lines()
  }

  /// Makes the connection administrative.
  func prove() {
    if let proof = askBare(ProofGiving.request).lazy.compactMap({ ProofGiving.wanted(by: $0) }).first { prove(proof) }
  }

  private func prove(_ proof: StateProof) {
    try? ProofGiving.give(proof, by: process)
    _ = askBare(ProofGiving.request)
  }

  /// The complete lines that have come since the last call.
  func lines() -> [String] {
    read()
    var lines: [String] = []
    while let end = received.firstIndex(of: 10) {
      lines.append(String(decoding: received[..<end], as: UTF8.self))
      received.removeFirst(end + 1)
    }
    return lines
  }

  /// Whether the server has ended the connection: waited for, because a child that a test beside this one is just
  /// starting may have the server's end for a moment still.
  var hasEnded: Bool { Patience.wait { !read() } }

  /// Reads what there is; false at the end of the stream.
  @discardableResult
  func read() -> Bool {
    harness.settle()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      switch descriptor?.read(into: &buffer) {
      case .bytes(let count)?: received += buffer[..<count]
      case .wouldBlock?: return true
      default: return false
      }
      harness.settle()
    }
  }

  func finishSending() {
    try? descriptor?.finishSending()
    harness.settle()
  }

  /// Ends the connection, also where a child that a test beside this one is just starting still has the descriptor.
  func close() {
    if let number = descriptor?.number { shutdown(number, Int32(SHUT_RDWR)) }
    descriptor = nil
    harness.settle()
  }
}

extension Broker {
  /// Starts on the broker's own executor, which the test turns.
  fileprivate func startSoon(_ store: InMemoryStore, _ notify: @escaping @Sendable (BrokerNotice) -> Void) {
    Task { await start(with: try? store.load(), notify: notify) }
  }
}

extension [TestClient] {
  /// How many of the connections are open, once those are at their end that the server says it has closed: waited for,
  /// as by `hasEnded`.
  func openCount(behind closed: Int) -> Int {
    _ = Patience.wait { filter { $0.read() }.count == count - closed }
    return filter { $0.read() }.count
  }
}
