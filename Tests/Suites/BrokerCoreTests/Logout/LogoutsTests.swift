import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Logouts and what they wait for, as a value.
@Suite(.standardTimeLimit) struct LogoutsTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1_000))
  private static let binding = ProviderBinding(type: "x")
  private static let timer = TimerCancellation {}

  private static func later(_ seconds: Int) -> Moment {
    Moment(wall: start.wall + .seconds(seconds), uptime: start.uptime + .seconds(seconds))
  }

  private static func open() -> Logouts {
    var logouts = Logouts()
    _ = logouts.handle(.configured([.default: binding]), at: start)
    _ = logouts.handle(.opened([]), at: start)
    return logouts
  }

  private static func wanted(_ id: PendingRevocation.ID) -> RevocationQueue.Event {
    let revocation = PendingRevocation(
      id: id, binding: binding, tokens: ScriptedProvider.tokens(1, now: start.wall), everywhere: false,
      startedAt: start.wall)
    return .wanted(revocation, isBeingKept: true)
  }

  @Test func `a logout is answered once, when everything of it has come`() {
    var logouts = Self.open()
    let id = logouts.newID()
    logouts.begin(id, LogoutGathering([.default], isReading: false, Self.timer, Caller(CallerID(1), as: .broker)))
    #expect(logouts.update(id) { $0.unsaved = [] } == nil)
    let answered = logouts.update(id) { $0.note(.yes, of: .default) }
    #expect(answered?.logout.caller.id == CallerID(1))
    #expect(logouts.update(id) { $0.note(.no, of: .default) } == nil)
  }

  @Test func `the part of a logout waits for its own revocation, once, and not beyond a lock`() {
    var logouts = Self.open()
    let part = Logouts.Part(logout: logouts.newID(), profile: .default)
    let (first, second) = (
      logouts.newRevocationID(of: .default, for: part), logouts.newRevocationID(of: .default, for: part)
    )
    let other = logouts.newRevocationID(of: .default, for: nil)
    #expect(first != second && logouts.takePart(waitingFor: other) == nil)
    #expect(logouts.takePart(waitingFor: first)?.logout == part.logout)
    #expect(logouts.takePart(waitingFor: first) == nil)
    _ = logouts.handle(.dropped, at: Self.start)
    #expect(logouts.takePart(waitingFor: second) == nil)
  }

  @Test func `one timer is set for the next wake-up, and another one when that changes`() {
    var logouts = Self.open()
    var set: [Duration] = []
    func setWake() {
      logouts.setWake { uptime in
        set.append(uptime)
        return TimerCancellation {}
      }
    }
    setWake()
    #expect(set.isEmpty)
    let id = logouts.newRevocationID(of: .default, for: nil)
    _ = logouts.handle(Self.wanted(id), at: Self.start)
    setWake()
    setWake()
    #expect(set.count == 1 && set.last == logouts.queue.nextWake)
    _ = logouts.handle(.failed(id, retryAfter: nil, jitter: 1), at: Self.later(1))
    setWake()
    #expect(set.last == logouts.queue.nextWake && set.count == 2)
    // The timer has gone off: the next one is set, although it may be for the same time.
    _ = logouts.handle(.woken, at: Self.later(1))
    setWake()
    #expect(set.count == 3)
  }
}
