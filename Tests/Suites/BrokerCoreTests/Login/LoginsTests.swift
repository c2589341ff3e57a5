import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// What the room of logins knows: one pending login a profile, how others ended, and which records are to be removed.
@Suite(.standardTimeLimit) struct LoginsTests {
  private static let other = profile("other")

  private static func profile(_ name: String) -> ProfileName { ProfileName(name) ?? .default }

  private static func action(
    _ id: String, _ kind: UserAction.Kind = .deviceCode, _ profile: ProfileName = .default
  ) -> PendingLogin {
    var action = LoginSample.action(kind)
    action.loginFlowID = id
    action.profile = profile
    return PendingLogin(step: .action(action), flow: LoginSample.flowSecret)
  }

  private static var code: PendingLogin {
    PendingLogin(challenge: LoginSample.challenge(), flow: LoginSample.flowSecret)
  }

  /// A room with these logins, which have begun.
  private static func room(_ pending: PendingLogin...) -> Logins {
    var logins = Logins()
    for login in pending {
      logins.insert(login)
      _ = logins.handle(.resumed, login.id, at: LoginSample.time(0))
    }
    return logins
  }

  /// Lets a login decide, and names what is done; nil where there is no such login.
  private static func handle(
    _ event: LoginMachine.Event, _ id: String, _ logins: inout Logins, at seconds: Double = 6
  ) -> [String]? {
    logins.handle(event, id, at: LoginSample.time(seconds))?.actions.map(LoginSample.name)
  }

  @Test func `a newer login takes the place of an older one of its profile, and of no other`() {
    var logins = Self.room(Self.action("a"), Self.action("b", .browser, Self.other))
    logins.insert(Self.action("c"))
    #expect(Set(logins.ids) == ["b", "c"] && logins.id(of: .default) == "c")
    #expect(Self.handle(.woken, "a", &logins) == nil && logins["a"] == nil)
  }

  @Test func `nothing is done for a login that is not there`() {
    var logins = Logins()
    #expect(Self.handle(.actionDone(.given), "a", &logins) == nil && !logins.isAnyPending)
  }

  @Test func `a decision carries the login as it is after it`() throws {
    var logins = Self.room(Self.action("a"))
    _ = Self.handle(.woken, "a", &logins)
    let decided = logins.handle(.stillPending(slowsDown: true), "a", at: LoginSample.time(7))
    let decision = try #require(decided)
    #expect(decision.actions == [.keep([])] && decision.login.step.action?.interval == .seconds(10))
  }

  @Test(arguments: [true, false])
  func `a login that is over is forgotten, and remembered for late callers for a minute after its time`(_ isTold: Bool)
  {
    var logins = Self.room(Self.action("a"))
    #expect(Self.handle(.ended(.of(.cancelled), isTold: isTold), "a", &logins)?.count == 1)
    #expect(!logins.isAnyPending && logins.find("a", at: LoginSample.time(6).wall) == nil)
    #expect(logins.ending(of: "a", at: LoginSample.time(359).wall)?.failure == .of(.cancelled))
    #expect(logins.ending(of: "a", at: LoginSample.time(360).wall) == nil)
  }

  @Test func `a login that waited for a code, or that was detached, is not remembered`() {
    var logins = Self.room(Self.code, Self.action("b", .browser, Self.other))
    _ = Self.handle(.ended(.of(.cancelled), isTold: true), "id", &logins)
    _ = Self.handle(.detached(.vaultLocked), "b", &logins)
    let now = LoginSample.time(7).wall
    #expect(!logins.isAnyPending && logins.ending(of: "id", at: now) == nil && logins.ending(of: "b", at: now) == nil)
  }

  @Test func `a login whose session is saved is remembered without a failure`() {
    var logins = Self.room(Self.action("a"))
    #expect(Self.handle(.actionDone(.given), "a", &logins) == ["accept"])
    let now = LoginSample.time(7).wall
    #expect(logins.step(of: .default, at: now) == nil && logins["a"] != nil && logins.ending(of: "a", at: now) == nil)
    logins.finish("a", nil)
    #expect(logins["a"] == nil && logins.ending(of: "a", at: now) == .init(step: Self.action("a").step, failure: nil))
    logins.finish("a", .replaced)
    #expect(logins.ending(of: "a", at: now)?.failure == nil, "it ends once")
  }

  @Test(arguments: [
    (LoginMachine.Event.ended(.replaced, isTold: false), true), (.ended(.of(.cancelled), isTold: true), false),
    (.actionDone(.given), true), (.detached(.vaultLocked), false), (.woken, false),
  ])
  func `the record of a login is removed with the next change of its profile, unless the event of its end does that`(
    _ event: LoginMachine.Event, _ isLeft: Bool
  ) {
    var logins = Self.room(Self.action("a"))
    _ = Self.handle(event, "a", &logins)
    var same = logins
    let taken = (logins.takeUnclosed(.default), logins.takeUnclosed(.default))
    let all = (same.takeAllUnclosed(), same.takeAllUnclosed())
    #expect(taken == (isLeft, false) && all == (isLeft ? [.default] : [], []))
  }

  @Test func `a record is not removed once another login is in its place`() {
    var logins = Self.room(Self.action("a"))
    _ = Self.handle(.ended(.replaced, isTold: false), "a", &logins)
    logins.insert(Self.action("b"))
    logins.noteUnclosed(.default)
    logins.noteUnclosed(Self.other)
    #expect(logins.takeAllUnclosed() == [Self.other])
  }

  @Test func `a broker that is ending polls no more, and takes in what it has asked`() {
    var logins = Self.room(
      Self.action("rests"), Self.action("polls", .deviceCode, Self.other),
      Self.action("listens", .browser, Self.profile("third")))
    #expect(Self.handle(.woken, "polls", &logins) == ["poll"])
    logins.beginEnding()
    #expect(Self.handle(.brokerEnding, "rests", &logins) == ["detach shuttingDown"])
    #expect(Self.handle(.brokerEnding, "polls", &logins) == ["refuseWaiting shuttingDown"])
    #expect(Self.handle(.brokerEnding, "listens", &logins) == ["stopListening", "detach shuttingDown"])
    #expect(logins.ids == ["polls"])
    var done = logins
    #expect(Self.handle(.actionDone(.given), "polls", &done) == ["accept"])
    #expect(Self.handle(.stillPending(slowsDown: false), "polls", &logins) == ["detach shuttingDown"])
    #expect(!logins.isAnyPending)
  }

  @Test func `a login is found until its time is over, and longer where the provider's word is awaited`() {
    let end = LoginSample.time(300).wall
    var logins = Self.room(Self.action("a"))
    #expect(logins.find("a", at: LoginSample.time(299).wall) != nil && logins.find("a", at: end) == nil)
    #expect(
      logins.step(of: .default, at: LoginSample.time(299).wall) != nil && logins.step(of: .default, at: end) == nil)
    _ = Self.handle(.woken, "a", &logins)
    #expect(logins.find("a", at: end) != nil && logins.step(of: .default, at: end) != nil)
  }

  @Test func `the earliest wake-up of all logins comes next`() {
    var logins = Self.room(Self.action("a", .browser), Self.action("b", .deviceCode, Self.other))
    #expect(logins.nextWake(at: LoginSample.time(1)) == LoginSample.time(5).uptime)
    _ = Self.handle(.woken, "b", &logins)
    // Its user is reminded at half of the time.
    #expect(logins.nextWake(at: LoginSample.time(6)) == LoginSample.time(150).uptime)
    #expect(Logins().nextWake(at: LoginSample.time(6)) == nil)
  }

  @Test func `a vault that was locked leaves nothing of pending logins`() {
    var logins = Self.room(Self.action("a"), Self.action("b", .browser, Self.other))
    _ = Self.handle(.ended(.replaced, isTold: false), "a", &logins)
    logins.forgetPending()
    #expect(!logins.isAnyPending && logins.takeAllUnclosed().isEmpty)
    #expect(logins.ending(of: "a", at: LoginSample.time(7).wall) == nil)
  }

  @Test func `the callers with codes are counted over all logins`() {
    var logins = Self.room(Self.code)
    for number: UInt64 in 1...3 {
      _ = logins.handle(.codeGiven(CodeGuess(CallerID(number), LoginSample.code)), "id", at: LoginSample.time(1))
    }
    #expect(logins.callerCount == 3)
  }

  @Test func `a listener is cancelled once`() async {
    var runs = LoginRuns()
    let listener = Task { while !Task.isCancelled { await Task.yield() } }
    runs.listen("a", listener, FlightMark())
    runs.stopListening("b")
    runs.stopListening("a")
    await listener.value
    #expect(listener.isCancelled)
  }
}
