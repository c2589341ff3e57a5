import TestSupport
import Testing

@testable import HTTP

/// Who has a turn at which server, and what time counts, as values.
@Suite(.standardTimeLimit) struct TurnTableTests {
  private static func table(flights: Int = 8, connecting: Int = 8, perServer: Int = 2) -> TurnTable<Int> {
    var limits = HTTPLimits()
    limits.flights = flights
    limits.connectingPerServer = connecting
    limits.requestsPerServer = perServer
    limits.waitingPerServer = 1
    limits.waitingFlights = 3
    return TurnTable(limits)
  }

  @Test func `ordinary requests have their turns at each server alone`() {
    var table = Self.table()
    let outcomes = (0..<4).map { table.admit($0, .ordinary, at: "a") }
    #expect(outcomes == [.begins, .begins, .waits, .refused])
    #expect(table.admit(4, .ordinary, at: "b") == .begins)
    #expect(table.next() == nil)
    table.ended(.ordinary, at: "a", wasSent: true)
    let next = table.next()
    #expect(next?.waiter == 2 && next?.server == "a")
    #expect(table.next() == nil)
  }

  @Test func `ordinary and spending requests take no turns of each other`() {
    var table = Self.table()
    #expect((0..<2).map { table.admit($0, .ordinary, at: "a") } == [.begins, .begins])
    #expect((0..<6).map { table.admit($0, .spending, at: "a") }.allSatisfy { $0 == .begins })
  }

  @Test(arguments: [(1, 1), (2, 2), (4, 3), (8, 6), (40, 30), (256, 192)])
  func `one server has three times as many turns as stay free`(_ flights: Int, _ share: Int) {
    var table = Self.table(flights: flights, connecting: flights)
    let begun = (0..<flights).prefix { table.admit($0, .spending, at: "a") == .begins }.count
    #expect(begun == share)
    if flights > share { #expect(table.admit(-1, .spending, at: "b") == .begins) }
  }

  @Test func `the turns of all servers are never more than there are`() {
    var table = Self.table(flights: 8)
    var begun = 0
    for server in ["a", "b", "c", "d", "e"] {
      for waiter in 0..<8 where table.admit(waiter, .spending, at: server) == .begins { begun += 1 }
    }
    #expect(begun == 8)
  }

  @Test func `as many connect to one server at a time as may, and each that is sent lets another connect`() {
    var table = Self.table(connecting: 2)
    #expect((0..<4).map { table.admit($0, .spending, at: "a") } == [.begins, .begins, .waits, .waits])
    #expect(table.next() == nil)
    table.sent(.spending, at: "a")
    #expect(table.next()?.waiter == 2)
    #expect(table.next() == nil)
    // One that never got a connection lets another connect, too.
    table.ended(.spending, at: "a", wasSent: false)
    #expect(table.next()?.waiter == 3)
  }

  @Test func `a turn that is free goes to the server with the fewest`() {
    var table = Self.table(flights: 4)
    for waiter in 0..<5 { _ = table.admit(waiter, .spending, at: "a") }
    #expect(table.admit(5, .spending, at: "b") == .begins)
    #expect(table.admit(6, .spending, at: "b") == .waits)
    table.ended(.spending, at: "a", wasSent: false)
    #expect(table.next()?.server == "b")
  }

  @Test func `so many wait unsent, whatever their server, and those that are taken out make room`() {
    var table = Self.table(flights: 1)
    #expect(table.admit(0, .spending, at: "a") == .begins)
    #expect((1..<5).map { table.admit($0, .spending, at: "s\($0)") } == [.waits, .waits, .waits, .refused])
    #expect(table.remove(.spending) { $0 > 1 }.sorted() == [2, 3])
    #expect(table.remove(.ordinary) { _ in true }.isEmpty)
    #expect((5..<8).map { table.admit($0, .spending, at: "a") } == [.waits, .waits, .refused])
    table.sent(.spending, at: "a")
    table.ended(.spending, at: "a", wasSent: true)
    #expect(table.next() != nil && table.next() == nil)
  }

  @Test(arguments: [
    (0.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 1.5, 1.5), (1.0, 1.5, 0.0), (1.0, 26.0, 25.0), (118.0, 118.5, 0.0),
  ])
  func `a turn that begins much later than planned was a standstill, whose time does not count`(
    _ sleep: Double, _ elapsed: Double, _ standstill: Double
  ) {
    var time = Duration.seconds(1000)
    let clock = TransferClock { time }
    clock.sleeps(for: .seconds(sleep))
    time += .seconds(elapsed)
    #expect(clock.wakes() == .seconds(1000 + elapsed - standstill))
    time += .milliseconds(250)
    #expect(clock.now == .seconds(1000.25 + elapsed - standstill))
    // What was planned for one turn is no plan for the next.
    time += .seconds(2)
    #expect(clock.wakes() == .seconds(1000 + elapsed - standstill))
  }
}
