import BrokerProtocol
import Glibc
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import BrokerCore

/// Loans that hold for the next requests of a door.
@Suite(.standardTimeLimit) struct LoanTests {
  private static let origin = "https://api.example.com"

  /// A door's view of a broker whose profile is signed in.
  private final class Door {
    let stage: BrokerStage
    let memory: LoanMemory
    /// The loan as one connection has it.
    private var hand: LoanMemory.Hand

    init() throws {
      let server = try TargetAddress(LoanTests.origin).origin
      stage = BrokerStage(rules: RequestRules(allow: [RequestRule(server)]))
      memory = LoanMemory(of: stage.broker)
      hand = LoanMemory.Hand(memory)
      _ = stage.logIn()
    }

    static func demand(_ method: APIRequest.Method = .get, isStreamed: Bool = false) throws -> LoanDemand {
      LoanDemand(
        profile: .default, method: method, address: try TargetAddress(LoanTests.origin + "/a"), isStreamed: isStreamed)
    }

    /// Asks the broker.
    func ask(as principal: Principal = .broker, since ends: UInt64? = nil) throws -> Result<LentToken, BrokerError>? {
      let (demand, memory, broker) = (try Self.demand(), memory, stage.broker)
      let ends = ends ?? memory.ends
      let answer = Answer()
      Task { answer.set(await broker.lend(demand, to: principal, keptIn: memory, since: ends)) }
      let deadline = Patience.end
      while answer.result == nil, BootClock.now < deadline {
        stage.turn()
        sched_yield()
      }
      return answer.result
    }

    /// Changes something of the broker.
    func change(_ body: (isolated Broker) -> Void) { stage.broker.assumeIsolated(body) }

    /// Whether the token is lent without the broker.
    func lendsAgain(_ method: APIRequest.Method = .get, isStreamed: Bool = false) throws -> Bool {
      hand.lend(try Self.demand(method, isStreamed: isStreamed)) != nil
    }

    /// The token that is lent without the broker.
    func token() throws -> Secret? { hand.lend(try Self.demand())?.token.value }
  }

  private final class Answer: Sendable {
    private let value = Mutex<Result<LentToken, BrokerError>?>(nil)
    func set(_ result: Result<LentToken, BrokerError>) { value.withLock { $0 = result } }
    var result: Result<LentToken, BrokerError>? { value.withLock { $0 } }
  }

  private final class Counter: Sendable { let value = Atomic(0) }

  @Test func `a loan holds for what its rules allow, and for as long as its token`() async throws {
    try await OwnThread.run {
      let door = try Door()
      #expect(try !door.lendsAgain())
      let loan = try #require(try door.ask()?.get())
      for _ in 0..<3 { #expect(try door.token() == loan.token.value) }
      #expect(try !door.lendsAgain(.post), "the broker refuses it")
      #expect(try door.lendsAgain(isStreamed: true))
      door.stage.clock.advance(by: .seconds(86_400))
      #expect(try !door.lendsAgain())
    }
  }

  @Test(arguments: ["logout", "lock", "permissions", "audit", "refresh"])
  func `what changes ends it at once`(_ change: String) async throws {
    try await OwnThread.run {
      let door = try Door()
      _ = try door.ask()
      #expect(try door.lendsAgain())
      switch change {
      case "logout": _ = door.stage.logOut(of: .default)
      case "lock": _ = door.stage.lock()
      case "permissions":
        door.change { $0.limit(Principal(client: ClientID(7), process: nil)) }
      case "audit": door.change { $0.setAudit(true) }
      default: _ = door.stage.token(GetAccessToken.Params(forceRefresh: true))
      }
      #expect(try !door.lendsAgain())
    }
  }

  @Test func `a loan for a principal that was looked up before permissions changed holds once`() async throws {
    try await OwnThread.run {
      let door = try Door()
      let ends = door.memory.ends
      door.change { $0.limit(Principal(client: ClientID(7), process: nil)) }
      #expect(try door.ask(since: ends)?.failure == nil)
      #expect(try !door.lendsAgain())
      _ = try door.ask()
      #expect(try door.lendsAgain())
    }
  }

  @Test func `a loan that the broker makes anew holds again`() async throws {
    try await OwnThread.run {
      let door = try Door()
      _ = try door.ask()
      _ = door.stage.token(GetAccessToken.Params(forceRefresh: true))
      #expect(try !door.lendsAgain())
      let loan = try #require(try door.ask()?.get())
      #expect(try door.token() == loan.token.value)
    }
  }

  @Test func `a use counts once, and none counts after the end`() throws {
    let (uses, counted) = (LoanUses(since: 0), Counter())
    let threads = try (0..<2).map { _ in
      try SystemThread { while uses.add(at: 1) { counted.value.add(1, ordering: .relaxed) } }
    }
    var taken = 0
    #expect(
      Patience.wait {
        taken += uses.take()
        return taken > 20_000
      })
    taken += uses.end()
    for thread in threads { thread.join() }
    // All that were counted were taken, and what was refused is taken by nobody.
    #expect(counted.value.load(ordering: .relaxed) == taken && uses.end() == 0 && !uses.isHeld)
  }
}
