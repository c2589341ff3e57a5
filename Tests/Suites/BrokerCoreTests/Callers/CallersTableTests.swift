import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// The table of callers, as a value.
@Suite(.standardTimeLimit) struct CallersTableTests {
  private static func callers(_ numbers: ClosedRange<UInt64>, _ wait: Callers.Wait) -> Callers {
    var callers = Callers()
    for number in numbers.reversed() {
      callers.insert(CallerID(number), as: .broker, .throughout)
      callers.update(CallerID(number)) { $0.wait = wait }
    }
    return callers
  }

  @Test func `those who wait for one thing are told in the order in which they came`() {
    var callers = Self.callers(1...5, .userAction(login: "a"))
    callers.insert(CallerID(6), as: .broker, .never)
    #expect(callers.waiting(for: .userAction(login: "a")) == (1...5).map { CallerID($0) })
    #expect(callers.waiting(for: .userAction(login: "b")).isEmpty && callers.waitingForTokens.isEmpty)
    #expect(callers.count == 6)
  }

  @Test func `those who wait for tokens are known with their profile`() {
    let callers = Self.callers(1...2, .token(.default))
    #expect(callers.waitingForTokens.map(\.caller) == [CallerID(1), CallerID(2)])
    #expect(callers.waitingForTokens.allSatisfy { $0.profile == .default } && callers.count == 2)
  }

  @Test func `a caller is taken out once, and its time is not waited for any more`() {
    let clock = ManualClock()
    var callers = Self.callers(1...1, .request)
    let deadline = clock.schedule(at: clock.uptime + .seconds(5)) {}
    callers.update(CallerID(1)) { $0.deadline = deadline }
    let (first, second) = (callers.remove(CallerID(1)), callers.remove(CallerID(1)))
    #expect(first != nil && second == nil && callers[CallerID(1)] == nil && clock.timerCount == 0)
    callers.update(CallerID(1)) { $0.wait = .login }
    #expect(callers.count == 0)
  }

  @Test func `the broker's own waits have names that no request has`() {
    var callers = Callers()
    let names = (0..<3).map { _ in callers.insertOwn { _, _ in } }
    #expect(Set(names).count == 3 && names.allSatisfy { $0.number >= 1 << 63 })
    #expect(callers[names[0]]?.continuation != nil)
  }
}
