import TestSupport
import Testing

@testable import BrokerCore

/// What runs for pending logins, as a value.
@Suite(.standardTimeLimit) struct LoginRunsTests {
  @Test func `codes that are exchanged are counted, also those of logins that were given up`() {
    var runs = LoginRuns()
    let (first, second, idle) = (FlightMark(), FlightMark(), FlightMark())
    for (id, flight) in [("a", first), ("b", second), ("c", idle)] { runs.listen(id, Task {}, flight) }
    #expect(runs.spendingCount == 0 && !runs.isSpending("a"))
    first.set(true)
    second.set(true)
    #expect(runs.spendingCount == 2 && runs.isSpending("a") && !runs.isSpending("c") && !runs.isSpending("d"))
    for id in ["b", "c", "d"] { runs.stopListening(id) }
    #expect(runs.spendingCount == 2 && !runs.isSpending("b"))
    second.set(false)
    #expect(runs.spendingCount == 1)
    first.set(false)
    #expect(runs.spendingCount == 0)
  }
}
