import TestSupport
import Testing

@testable import BrokerCore

/// When an open vault is locked by itself.
@Suite(.standardTimeLimit) struct AutoLockTests {
  private static let opened = Duration.seconds(1000)
  private static let slept = Duration.seconds(100)

  private func autoLock(_ idleTimeout: Int, onSuspend: Bool = false) -> AutoLock {
    var autoLock = AutoLock()
    let rules = AutoLockRules(idleTimeout: .seconds(idleTimeout), locksOnSuspend: onSuspend)
    autoLock.setRules(rules, at: Self.opened, slept: Self.slept)
    return autoLock
  }

  @Test(
    arguments: [
      (0, false, false, nil, nil), (600, false, true, 1600, .seconds(600)),
      (0, true, true, nil, AutoLock.longestUnwatched), (600, true, true, 1600, AutoLock.longestUnwatched),
    ] as [(Int, Bool, Bool, Int?, Duration?)])
  func `what the owner has chosen says when it is looked again`(
    _ idleTimeout: Int, _ onSuspend: Bool, _ isOn: Bool, _ end: Int?, _ unwatched: Duration?
  ) {
    let autoLock = autoLock(idleTimeout, onSuspend: onSuspend)
    #expect(autoLock.isOn == isOn && autoLock.unwatched == unwatched)
    #expect(autoLock.idleEnd == end.map { .seconds($0) })
    #expect(autoLock.isIdle(at: .seconds(1599)) == false && autoLock.isIdle(at: .seconds(1600)) == (end != nil))
  }

  @Test func `a use puts the end off, one that is told late does not bring it nearer`() {
    var autoLock = autoLock(600)
    autoLock.used(at: .seconds(1500))
    autoLock.used(at: .seconds(1200))
    #expect(!autoLock.isIdle(at: .seconds(2099)) && autoLock.isIdle(at: .seconds(2100)))
    autoLock.opened(at: .seconds(3000), slept: nil)
    #expect(autoLock.idleEnd == .seconds(3600))
  }

  @Test func `a sleep is seen once, and where it is of no interest not at all`() {
    var (autoLock, other) = (autoLock(0, onSuspend: true), autoLock(600))
    let times: [(Duration?, Bool)] = [
      (Self.slept, false), (Self.slept + .milliseconds(9), false), (nil, false), (Self.slept + .seconds(1), true),
      (Self.slept + .seconds(1), false), (Self.slept, false), (Self.slept + .milliseconds(20), true),
    ]
    for (time, isSeen) in times {
      let (hasSlept, ofNoInterest) = (autoLock.hasSlept(time), other.hasSlept(time))
      #expect(hasSlept == isSeen && !ofNoInterest, "\(String(describing: time))")
    }
  }

  @Test func `a machine of which it is not known how long it has slept is never seen to sleep`() {
    var autoLock = AutoLock()
    autoLock.setRules(AutoLockRules(locksOnSuspend: true), at: Self.opened, slept: nil)
    let seen = [Self.slept, Self.slept + .seconds(1)].map { autoLock.hasSlept($0) }
    #expect(seen == [false, true])
  }
}
