import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Questions to the owner, and what is remembered of the answers: the room alone, on a time that the test gives.
@Suite(.standardTimeLimit) struct ConsentsTests {
  /// A room, and the time.
  private struct Stage {
    var consents = Consents()
    var now = Duration.seconds(1000)
    private var callers: UInt64 = 0
    private var questions = 0

    /// Asks for a client.
    mutating func ask(
      _ client: ConsentClient, _ confirmation: BrokerCore.Confirmation = .once,
      _ demand: Consents.Demand = ConsentsTests.demand(), most: Int = 64
    ) -> Consents.Verdict {
      callers += 1
      questions += 1
      let (asker, number) = (Consents.Asker(caller: CallerID(callers), client: client), questions)
      return consents.ask(demand, confirmation, asker, most: most, at: now) { "q\(number)" }
    }

    /// The handle of the newest question.
    var handle: String { consents.questions.last?.id ?? "none" }

    /// Allows the newest question, or one.
    mutating func allow(
      _ subject: ConsentSubject? = nil, remember: Duration? = nil, _ id: String? = nil
    ) -> Consents.Decision? {
      consents.allow(id ?? handle, for: subject, remember: remember, at: now)
    }
  }

  /// Later than any moment of a test: such a process never becomes one that stands for what it starts.
  private static let fresh = 1_000_000

  private static func demand(
    _ slot: UInt64 = 1, _ method: String = "getAccessToken", scopes: [String]? = nil, audience: String? = nil
  ) -> Consents.Demand {
    Consents.Demand(slot: SlotID(profile: .default, number: slot), method: method, scopes: scopes, audience: audience)
  }

  private static func link(
    _ pid: Int32, started: Int = 0, _ command: String? = nil, isOwners: Bool = true, isManager: Bool = false
  ) -> ProcessLink {
    ProcessLink(
      .init(pid, startedAt: .seconds(started)), isOwners: isOwners, command: command, isManager: isManager)
  }

  /// A command that an agent, which runs since long, has started just now; both belong to a terminal.
  private static func command(
    _ pid: Int32, of agent: Int32 = 50, _ name: String = "git", unit: String? = nil, socket: String? = nil,
    remembers: Bool = false
  ) -> ConsentClient {
    ConsentClient(
      connection: ClientID(UInt64(pid)), AccessClient(socket: socket, user: 1000, isOwner: true, unit: unit),
      chain: [
        link(pid, started: fresh, name), link(agent + 1, started: fresh, "sh"), link(agent, started: 100, "agent"),
        link(20, started: 50, "zsh"), link(10, started: 20, "terminal"), link(1, isManager: true),
      ], remembersForwarded: remembers)
  }

  private static let agent = ConsentSubject.ancestor(.init(50, startedAt: .seconds(100)))

  @Test func `ten commands of one agent are one question, and its answer is for them all and for those to come`() {
    var stage = Stage()
    let verdicts = (0..<10).map { stage.ask(Self.command(100 + $0)) }
    #expect(verdicts.first == .waits(question: "q1", isNew: true))
    #expect(verdicts.dropFirst().allSatisfy { $0 == .waits(question: "q1", isNew: false) })
    let decision = stage.allow()
    #expect(decision?.outcome == .allowed(Self.agent, remember: .seconds(600)))
    #expect(decision?.question.askers.count == 10 && decision?.others.isEmpty == true)
    #expect(stage.ask(Self.command(200)) == .granted(1))
    // Another agent in another window is another subject.
    #expect(stage.ask(Self.command(300, of: 70)) == .waits(question: "q12", isNew: true))
  }

  @Test func `what differs is another question: profile, method, scopes, audience`() {
    var stage = Stage()
    let demands = [
      Self.demand(), Self.demand(2), Self.demand(1, "getIdToken"), Self.demand(scopes: ["a"]),
      Self.demand(audience: "urn:a"),
    ]
    for demand in demands { _ = stage.ask(Self.command(100), .once, demand) }
    #expect(stage.consents.questions.count == demands.count)
    _ = stage.allow(nil, "q1")
    #expect(stage.ask(Self.command(100)) == .granted(1))
    #expect(stage.ask(Self.command(100), .once, demands[1]) == .waits(question: "q2", isNew: false))
  }

  @Test(arguments: [
    // How long it was not used, and whether it lives.
    (599, true), (600, false), (601, false),
  ]) func `a consent lives while it is used`(_ pause: Int, _ lives: Bool) {
    var stage = Stage()
    _ = stage.ask(Self.command(100))
    _ = stage.allow()
    stage.now += .seconds(599)
    #expect(stage.ask(Self.command(101)) == .granted(1))
    stage.now += .seconds(pause)
    #expect((stage.ask(Self.command(102)) == .granted(1)) == lives)
  }

  @Test func `a consent ends after twelve hours however it is used, and with the time of a suspended machine`() {
    var stage = Stage()
    _ = stage.ask(Self.command(100))
    _ = stage.allow(remember: .seconds(1_000_000))
    for _ in 0..<11 {
      stage.now += .seconds(3600)
      #expect(stage.ask(Self.command(101)) == .granted(1))
    }
    stage.now += .seconds(3600)
    #expect(stage.ask(Self.command(102)) != .granted(1))
  }

  @Test func `an answer that comes too late is none, though nothing has noticed the time`() {
    var stage = Stage()
    _ = stage.ask(Self.command(100))
    stage.now += .seconds(20)
    #expect(stage.allow() == nil)
    #expect(stage.consents.refuse("q1", at: stage.now) == nil)
    // A new request does not wait for a question whose time is over.
    #expect(stage.ask(Self.command(101)) == .waits(question: "q2", isNew: true))
    let expired = stage.consents.expire(at: stage.now)
    #expect(expired.map(\.outcome) == [.unanswered] && expired.map(\.question.id) == ["q1"])
    #expect(stage.consents.nextDeadline == stage.now + .seconds(20))
  }

  @Test func `a refusal is remembered for a minute at most, and no answer is not`() {
    var stage = Stage()
    for (remember, seconds) in [(nil, 60), (Duration.seconds(600), 60), (.seconds(5), 5)] as [(Duration?, Int)] {
      _ = stage.ask(Self.command(100))
      #expect(stage.consents.refuse(stage.handle, remember: remember, at: stage.now)?.outcome == .refused)
      stage.now += .seconds(seconds) - .milliseconds(1)
      #expect(stage.ask(Self.command(101)) == .refused)
      stage.now += .milliseconds(1)
    }
    guard case .waits(_, true) = stage.ask(Self.command(102)) else { return #expect(Bool(false), "it asks again") }
    stage.now += .seconds(20)
    _ = stage.consents.expire(at: stage.now)
    guard case .waits(_, true) = stage.ask(Self.command(103)) else { return #expect(Bool(false), "it asks again") }
  }

  @Test func `always remembers nothing, and is for this process alone`() {
    var stage = Stage()
    _ = stage.ask(Self.command(100), .always)
    #expect(stage.ask(Self.command(101), .always) == .waits(question: "q2", isNew: true))
    #expect(stage.ask(Self.command(100), .always) == .waits(question: "q1", isNew: false))
    let decision = stage.allow(remember: .seconds(600), "q1")
    #expect(decision?.outcome == .allowed(.process(.init(100, startedAt: .seconds(Self.fresh))), remember: .zero))
    #expect(decision?.question.askers.count == 2 && decision?.grant == nil)
    #expect(stage.ask(Self.command(100), .always) == .waits(question: "q4", isNew: true))
    _ = stage.consents.refuse("q4", at: stage.now)
    #expect(stage.ask(Self.command(100), .always) == .waits(question: "q5", isNew: true))
    // What was allowed once is none of a rule that always asks.
    _ = stage.ask(Self.command(100))
    _ = stage.consents.allow("q6", at: stage.now)
    #expect(stage.ask(Self.command(100)) == .granted(1))
    #expect(stage.ask(Self.command(100), .always) == .waits(question: "q5", isNew: false))
  }

  @Test func `a forwarded socket is asked about each time, whatever its ancestors have, unless it remembers`() {
    var stage = Stage()
    // The shell that has started ssh has a consent, and so has its unit.
    _ = stage.ask(Self.command(100, unit: "user/app-terminal-1.scope"))
    _ = stage.allow(.ancestor(.init(20, startedAt: .seconds(50))))
    _ = stage.ask(Self.command(100, "cat", unit: "a.service", socket: "ci"))
    let ssh = Self.command(101, "ssh", unit: "user/app-terminal-1.scope")
    #expect(ssh.isForwarded)
    for number in [3, 4] {
      guard case .waits(let id, true) = stage.ask(ssh) else { return #expect(Bool(false), "\(number)") }
      let decision = stage.consents.allow(id, at: stage.now)
      #expect(decision?.outcome == .allowed(ssh.ownProcess, remember: .zero) && decision?.grant == nil)
    }
    var remembering = Self.command(102, "ssh", socket: "far", remembers: true)
    guard case .waits(let id, true) = stage.ask(remembering) else { return #expect(Bool(false)) }
    #expect(
      stage.consents.allow(id, at: stage.now)?.outcome == .allowed(remembering.ownProcess, remember: .seconds(600)))
    #expect(stage.ask(remembering) == .granted(2))
    remembering.chain[0].id.startedAt += .seconds(1)
    guard case .waits = stage.ask(remembering) else {
      return #expect(Bool(false), "another process of the same number")
    }
  }

  @Test func `a narrower answer lets those that it does not name ask once more`() {
    var stage = Stage()
    for pid in [100, 101, 100] as [Int32] { _ = stage.ask(Self.command(pid)) }
    let decision = stage.allow(.process(.init(100, startedAt: .seconds(Self.fresh))))
    #expect(decision?.question.askers.map(\.caller) == [CallerID(1), CallerID(3)])
    #expect(decision?.others.map(\.caller) == [CallerID(2)])
    #expect(stage.ask(Self.command(100)) == .granted(1))
    #expect(stage.ask(Self.command(101)) == .waits(question: "q5", isNew: true))
  }

  @Test func `a question ends with its last request, and what is shown of it stays until then`() {
    var stage = Stage()
    for pid in [100, 101] as [Int32] { _ = stage.ask(Self.command(pid)) }
    #expect(stage.consents.leave(CallerID(1)) == nil)
    #expect(stage.consents.questions.first?.client.chain.first?.id.pid == 100)
    #expect(stage.consents.leave(CallerID(2))?.outcome == .left)
    #expect(stage.consents.questions.isEmpty && stage.consents.leave(CallerID(2)) == nil)
  }

  @Test func `the lock and the end of a profile take everything along`() {
    var stage = Stage()
    for demand in [Self.demand(), Self.demand(2)] {
      _ = stage.ask(Self.command(100), .once, demand)
      _ = stage.allow()
      _ = stage.ask(Self.command(300, of: 70), .once, demand)
      _ = stage.consents.refuse(stage.handle, at: stage.now)
      _ = stage.ask(Self.command(400, of: 80), .once, demand)
      stage.now += .seconds(1)
    }
    #expect(stage.consents.retire(SlotID(profile: .default, number: 1)).map(\.outcome) == [.withdrawn])
    #expect(stage.consents.grants.map(\.demand.slot.number) == [2])
    #expect(stage.consents.lock().map(\.outcome) == [.withdrawn])
    #expect(stage.consents.grants.isEmpty && stage.consents.nextDeadline == nil)
    guard case .waits(_, true) = stage.ask(Self.command(300, of: 70), .once, Self.demand(2)) else {
      return #expect(Bool(false), "the refusal is forgotten")
    }
  }

  @Test func `questions and consents have bounds, and the clients of a socket leave half to others`() {
    var stage = Stage()
    for number in 0..<4 { _ = stage.ask(Self.command(100, socket: "ci"), .once, Self.demand(UInt64(number)), most: 8) }
    #expect(stage.ask(Self.command(100, socket: "ci"), .once, Self.demand(9), most: 8) == .overfull)
    #expect(stage.ask(Self.command(100), .once, Self.demand(9), most: 8) != .overfull)
    for number in 0...Consents.mostGrants {
      stage.now += .milliseconds(1)
      _ = stage.ask(Self.command(100), .once, Self.demand(UInt64(1000 + number)), most: 1000)
      _ = stage.consents.questions.last.flatMap { stage.consents.allow($0.id, at: stage.now) }
    }
    #expect(stage.consents.grants.count == Consents.mostGrants)
    #expect(stage.consents.grants.first?.demand.slot.number == 1001)
  }
}
