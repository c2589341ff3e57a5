import BrokerCore
import Glibc
import JSON
import LinuxSystem
import TestSupport

/// A broker that is killed and started again, its clients, and what is found each time.
final class AccountCrashStage {
  /// How many accounts are used at a time, each by a client of its own.
  private static let clientCount = 4
  /// The longest that a broker is left in the middle of requests, in microseconds: about a password hash.
  private static let longestDelay: UInt64 = 120_000
  /// The profile of the logins that examine the accounts: those of the clients keep their sessions.
  static let examiner = "examiner"

  private(set) var kills = 0
  /// How many requests a broker was killed in.
  private var cutOff = 0
  private let sandbox: Sandbox
  private let clients: [AccountCrashClient]
  private let options: [String]
  private var random: SeededGenerator

  init(_ sandbox: Sandbox, seed: UInt64) throws {
    self.sandbox = sandbox
    var random = SeededGenerator(seed: seed)
    clients = (0..<Self.clientCount).map {
      AccountCrashClient(number: $0, outbox: sandbox.outbox, SeededGenerator(seed: random.next()))
    }
    self.random = random
    let profiles = (clients.map(\.profile) + [Self.examiner]).map { #""\#($0)": { provider: "local" }"# }
    // No limit stands in the way of a client that is faster than any person.
    let limits = Limit.rows.filter { $0.interval != nil }.map { "\($0.name): \($0.range.upperBound)" }
    options = try sandbox.configure(
      """
      {
        profiles: { \(profiles.joined(separator: ", ")) },
        local: { maxMessagesPerHour: 1000, maxMessagesPerDay: 10000 },
        limits: { \(limits.joined(separator: ", ")) },
      }
      """)
  }

  /// How many answers of each kind the clients got.
  var acknowledged: [AccountMethod: Int] {
    clients.reduce(into: [:]) { $0.merge($1.acknowledged) { $0 + $1 } }
  }

  /// What was done, in words.
  var summary: String {
    let done = acknowledged
    let words = AccountMethod.allCases.map { "\($0.rawValue) \(done[$0] ?? 0)" }
    return "\(kills) kills, \(cutOff) requests under way; acknowledged: \(words.joined(separator: ", "))"
  }

  // MARK: Lives

  /// One life: start, look at what the life before has changed, do this and that, and be killed.
  func live() throws {
    let owner = try sandbox.owner(options)
    try examine(all: false)
    for client in clients { try client.connect(to: sandbox.socket) }
    for _ in 0..<random.next() % 4 {
      for client in clients { try client.send() }
      for client in clients { try client.hear() }
    }
    try dieInTurn(owner)
    try KilledDatabase.check(sandbox)
  }

  /// Looks at each account that there ever was, and ends.
  func examineAll() throws {
    let owner = try sandbox.owner(options)
    try examine(all: true)
    try owner.send(.terminate)
    guard try owner.wait() == 0 else { throw TestFailure("the broker did not stop in order: \(owner.errorText)") }
  }

  /// Kills the broker directly after its youngest acknowledgement, or in the middle of a request.
  private func dieInTurn(_ owner: Program) throws {
    let crowd = clients.shuffled(using: &random)
    let count = Int(random.next() % UInt64(crowd.count))
    let isAtOnce = random.next() % 3 == 0
    for client in isAtOnce ? crowd[...count] : crowd[...] { try client.send() }
    for client in isAtOnce ? crowd[...count] : crowd[..<count] { try client.hear() }
    // The moment of the kill is random; nothing is waited for by it.
    if !isAtOnce { usleep(UInt32(random.next() % Self.longestDelay)) }
    sandbox.bury(owner)
    kills += 1
    let methods = try clients.compactMap { try $0.endLife() }
    cutOff += methods.count
    // A reset refreshes every session, to see which the provider has ended.
    if methods.contains(.resetPassword) { for client in clients { client.doubtSession() } }
  }

  // MARK: What is found

  /// Compares what a new broker says with what earlier ones have acknowledged.
  ///
  /// - Parameter all: whether each account is logged in to, or only those that the last life has used.
  /// - Throws: ``TestFailure`` for the first difference.
  private func examine(all: Bool) throws {
    let wire = try SocketWire(sandbox.socket)
    guard try wire.call("listLocalAudit").required("intact").bool() else {
      throw TestFailure("the audit log is broken")
    }
    let found = try wire.call("listLocalUsers").required("users").elements().map { try $0.required("email").string() }
    let known = clients.flatMap { $0.accounts.map(\.email) }
    let strangers = Set(found).subtracting(known)
    guard strangers.isEmpty else { throw TestFailure("accounts that no client has registered: \(strangers)") }
    for client in clients {
      try client.examineSession(wire)
      try client.examineAccounts(wire, found: Set(found), all: all)
    }
  }
}
