import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// A random life of the real broker's queue, by a seed.
///
/// Clients, two users, the API, the disk, the clock and crashes are the simulation's. After each step everything that can go on without the world outside has gone on, and every law is checked.
final class QueueSimulation {
  /// A law that was broken.
  struct Broken: Error, CustomStringConvertible {
    /// The seed, and the step.
    let place: String
    /// The law, and what was.
    let description: String
  }

  /// A question to the API.
  struct Question: Sendable {
    /// The value of Idempotency-Key.
    let key: String
    /// The body: the number of the request.
    let body: String
    /// The token.
    let token: String
  }

  /// What a client knows of a request.
  struct Entry {
    /// The user in whose session it was queued.
    let user: String
    /// Its id, once its client has been told that it is queued.
    var id: String?
    /// Whether a client was told that it is not sent any more.
    var isCancelled = false
    /// Whether a client has wanted that.
    var mayBeCancelled = false
    /// Whether a client was refused it once, or never got an answer: then its place in the line is another one.
    var wasRefused = false
    /// How often the API has failed.
    var serverErrors = 0
  }

  /// What a request of a client's is about.
  enum Ask {
    case queue(Int)
    case cancel(Int)
    case login
    case other
  }

  static let users = ["ada", "bob"]
  let (seed, steps): (UInt64, Int)
  let executor = TurnedExecutor()
  let disk = InMemoryStore()
  let entropy: SimulatedEntropy
  var random: SeededGenerator
  var life: BrokerLife
  /// What is asked of the API.
  var api = Wire<Question, Result<APIAnswer, ProviderFailure>>(after: 0)
  var step = 0
  /// Everything that was queued, in its order.
  var entries: [Entry] = []
  /// What clients wait for, by the numbers of their requests.
  var asked: [Int: Ask] = [:]
  var askCount = 0
  /// The last question to the API that was looked at.
  var lastQuestion = 0
  /// The place in the line of the request that has come to the API furthest down.
  var furthest: UInt64 = 0
  /// The requests that the API has acted on, in that order.
  var effects: [Int] = []
  /// The tokens of each user, and the user of each.
  var owners: [String: String] = [:]
  /// The requests as they rest in the store, by their keys.
  var durable: [String: QueuedRequest] = [:]
  /// What was counted.
  var counts = Counts()

  /// What was counted, for the report.
  struct Counts {
    var lives = 1, queued = 0, sent = 0, effects = 0, cancelled = 0, logins = 0, lost = 0

    /// Adds those of another run.
    mutating func add(_ other: Self) {
      (lives, queued, sent) = (lives + other.lives, queued + other.queued, sent + other.sent)
      (effects, cancelled) = (effects + other.effects, cancelled + other.cancelled)
      (logins, lost) = (logins + other.logins, lost + other.lost)
    }
  }

  /// A run that has not begun.
  init(seed: UInt64, steps: Int) throws {
    (self.seed, self.steps) = (seed, steps)
    random = SeededGenerator(seed: seed)
    entropy = SimulatedEntropy(seed: seed &+ 1)
    let clock = SimulatedClock(uptime: .seconds(1000), wall: Timestamp(milliseconds: 1_800_000_000_000))
    life = BrokerLife(
      1, [try Self.profile(api)], disk, SharedDisk(), executor, clock, entropy, asked: (providers: 0, storage: 0))
  }

  static func profile(_ api: Wire<Question, Result<APIAnswer, ProviderFailure>>) throws -> BrokerLife.Profile {
    let rule = RequestRule(try TargetAddress("https://api.example").origin, methods: [.post])
    var profile = BrokerLife.Profile(name: .default)
    profile.requests = RequestSettings(RequestRules(allow: [rule]), SimulatedSender(api))
    return profile
  }

  /// Makes all steps, and lets everything be sent at the end.
  func run() throws {
    try begin()
    for number in 0..<steps {
      step = number
      try take(Int.random(in: 0..<100, using: &random))
    }
    try settle()
  }

  func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  func fail(_ law: String) -> Broken { Broken(place: "seed \(seed) step \(step)", description: law) }

  private func take(_ draw: Int) throws {
    switch draw {
    case 0..<35: try answerStorage()
    case 35..<53: try answerAPI()
    case 53..<64: try queue(entries.count)
    case 64..<67: if let number = entries.indices.randomElement(using: &random) { try queue(number) }
    case 67..<70: if let number = entries.indices.suffix(6).randomElement(using: &random) { try cancel(number) }
    case 70..<78: if user == nil || chance(0.15) { try changeUser(to: Self.users[chance(0.5) ? 0 : 1]) }
    case 78..<79: try lock()
    case 79..<81: try unlock()
    case 81..<89: try pass(.milliseconds(Int.random(in: 0..<90_000, using: &random)))
    case 89..<91: try crash()
    default: try answerProvider()
    }
  }

  // MARK: Clients

  private func ask<Value>(_ ask: Ask, _ need: VaultNeed = .throughout, _ method: @escaping Broker.Method<Value>) throws
  {
    askCount += 1
    asked[askCount] = ask
    let caller = Caller<Value>(CallerID(UInt64(askCount)), as: .broker)
    life.broker.assumeIsolated { $0.receive(caller, need, method) }
    try turn()
  }

  /// The user of the present session; nil where there is none.
  var user: String? {
    let session = life.broker.assumeIsolated { try? $0.session(.default, for: .broker).session }
    return session?.state == .authenticated ? session?.user?.id : nil
  }

  /// Has a request queued: a new one, or an earlier one again.
  private func queue(_ number: Int) throws {
    guard let user else { return }
    if number == entries.count { entries.append(Entry(user: user)) }
    let request = SendRequest.Params(method: "POST", url: "https://api.example/x", body: "\(number)")
    let params = QueueRequest.Params(request, idempotencyKey: "k\(number)")
    // In another user's session a client cannot mean that one.
    guard entries[number].user == user else { return }
    try ask(.queue(number)) { broker, caller throws(BrokerError) in try broker.queueRequest(params, caller) }
  }

  private func cancel(_ number: Int) throws {
    guard let id = entries[number].id else { return }
    entries[number].mayBeCancelled = true
    let params = CancelRequest.Params(requestID: id)
    try ask(.cancel(number)) { broker, caller throws(BrokerError) in try broker.cancelRequest(params, caller) }
  }

  /// Logs a user in, or the present one out.
  func changeUser(to name: String) throws {
    guard user == nil else {
      let params = Logout.Params(profile: .default, all: false)
      return try ask(.other, .atFirst) { broker, caller throws(BrokerError) in try broker.logout(params, caller) }
    }
    let params = Login.Params(profile: .default, email: "\(name)@example.test", password: ScriptedProvider.secret(name))
    try ask(.login) { broker, caller throws(BrokerError) in try broker.login(params, caller) }
  }

  /// Whether the broker's vault is locked: its opening may have failed.
  var isShut: Bool {
    let session = life.broker.assumeIsolated { try? $0.session(.default, for: .broker).session }
    return session?.state == .locked
  }

  private func lock() throws {
    try ask(.other, .never) { broker, caller in broker.lock(caller) }
  }

  func unlock() throws {
    try ask(.other, .never) { broker, caller in broker.unlock(Unlock.Params(), caller) }
  }

  // MARK: Crashes

  /// The broker is killed: its last write is durable or not, and what was sent has come or not.
  func crash() throws {
    for call in api.calls where chance(0.5) { act(call.question) }
    if chance(0.5), let call = life.storage.calls.first, call.question.isCommit {
      life.storage.answer(call.number, .done)
      executor.turn()
    }
    life.clock.stop()
    life.storage.cut(.failed)
    life.providers.cut(.failure(.transient(.networkUnavailable)))
    api.cut(.failure(.transient(.networkUnavailable)))
    for _ in 0..<100 where executor.turn() {}
    for case .committed(let steps) in life.inbox.takeAll() { try noteCommitted(steps) }
    counts.lives += 1
    for case .queue(let number) in asked.values { entries[number].wasRefused = true }
    asked = [:]
    let clock = SimulatedClock(uptime: life.clock.uptime, wall: life.clock.now, boot: "boot-0")
    api = Wire(after: api.count)
    lastQuestion = api.count
    life = BrokerLife(
      counts.lives, [try Self.profile(api)], disk, SharedDisk(), executor, clock, entropy,
      asked: (providers: life.providers.count, storage: life.storage.count))
    try begin()
  }

  /// The broker takes clients once it has begun, with its vault open or not.
  private func begin() throws {
    life.begin()
    try turn()
    while !life.storage.isIdle { try answerStorage() }
  }
}

/// Sends nothing, and asks the simulation.
private final class SimulatedSender: APISender {
  private let wire: Wire<QueueSimulation.Question, Result<APIAnswer, ProviderFailure>>

  init(_ wire: Wire<QueueSimulation.Question, Result<APIAnswer, ProviderFailure>>) { self.wire = wire }

  func send(_ request: APIRequest, with loan: LentToken) async throws(ProviderFailure) -> APIAnswer {
    let question = QueueSimulation.Question(
      key: request.fields.first { $0.name == "Idempotency-Key" }?.value ?? "",
      body: String(decoding: request.body ?? [], as: UTF8.self), token: loan.token.value.revealedString() ?? "")
    return try await wire.ask(question).get()
  }
}
