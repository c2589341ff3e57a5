import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Codes that wait for their turn.
@Suite(.standardTimeLimit) struct CodeQueueTests {
  private static func guess(_ caller: UInt64, _ code: String, isBackup: Bool = false) -> CodeGuess {
    CodeGuess(CallerID(caller), ScriptedProvider.secret(code), isBackupCode: isBackup)
  }

  @Test func `equal codes share a turn, and different ones keep their order`() {
    var queue = CodeQueue(Self.guess(1, "a"))
    for (caller, code) in [(2, "b"), (3, "a"), (4, "c"), (5, "b")] {
      let isAdded = queue.add(Self.guess(UInt64(caller), code))
      #expect(isAdded)
    }
    #expect(queue.current.callers == LoginSample.callers(1, 3) && queue.callers == LoginSample.callers(1, 3, 2, 5, 4))
    var turns: [[CallerID]] = []
    while queue.advance() { turns.append(queue.current.callers) }
    #expect(turns == [LoginSample.callers(2, 5), LoginSample.callers(4)])
  }

  @Test func `a backup code is no other code with the same characters`() {
    var queue = CodeQueue(Self.guess(1, "a"))
    let isAdded = queue.add(Self.guess(2, "a", isBackup: true))
    #expect(isAdded && queue.current.callers == LoginSample.callers(1))
  }

  @Test func `a full queue takes no other code, but callers with one that it has`() {
    var queue = CodeQueue(Self.guess(0, "0"))
    for number in 1...CodeQueue.limit { _ = queue.add(Self.guess(UInt64(number), "\(number)")) }
    let isOtherAdded = queue.add(Self.guess(50, "x"))
    let isSameAdded = queue.add(Self.guess(51, "1"))
    #expect(!isOtherAdded && isSameAdded && queue.callers.count == CodeQueue.limit + 2)
  }

  @Test func `a code goes with its last caller, unless it is being checked`() {
    var queue = CodeQueue(Self.guess(1, "a"))
    _ = queue.add(Self.guess(2, "b"))
    for caller in LoginSample.callers(1, 2) { queue.forget(caller) }
    let hasNext = queue.advance()
    #expect(queue.callers.isEmpty && !hasNext)
  }

  @Test func `the callers of the current code are answered once`() {
    var queue = CodeQueue(Self.guess(1, "a"))
    let callers = (queue.takeCurrentCallers(), queue.takeCurrentCallers())
    #expect(callers.0 == LoginSample.callers(1) && callers.1.isEmpty)
  }
}
