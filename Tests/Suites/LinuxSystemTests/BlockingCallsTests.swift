import LinuxSystem
import Synchronization
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct BlockingCallsTests {
  /// A call that returns once a test lets it.
  private final class Gate: Sendable {
    private let hasBegun = Semaphore()
    private let isOpen = Semaphore()
    func pass() {
      hasBegun.signal()
      isOpen.wait()
    }
    func open() { isOpen.signal() }
    func awaitBegin() async throws {
      try await OwnThread.run { hasBegun.wait() }
    }
  }

  /// What was done, in order.
  private final class Journal: Sendable {
    private let names = Mutex<[String]>([])
    func note(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0 } }
  }

  @Test func `a call that hangs holds up those of its key alone, in their order`() async throws {
    let calls = BlockingCalls<Int>(name: "calls", limit: 3, longLimit: 2)
    try calls.start()
    let gate = Gate()
    let journal = Journal()
    async let hung: Void = calls.run(1, isLong: true) {
      gate.pass()
      journal.note("hung")
    }
    try await gate.awaitBegin()
    async let behind: Void = calls.run(1, isLong: true) { journal.note("behind") }
    #expect(await calls.run(2, isLong: true) { 7 } == 7)
    #expect(await calls.run(3, isLong: false) { 8 } == 8)
    #expect(journal.all.isEmpty)
    gate.open()
    _ = await (hung, behind)
    #expect(journal.all == ["hung", "behind"])
    await calls.stop()
  }

  @Test func `no more run at once than may, and short ones are not held up by long ones`() async throws {
    let threads = Atomic(0)
    let calls = BlockingCalls<Int>(name: "calls", limit: 3, longLimit: 2) { call throws(Errno) in
      try SystemThread {
        threads.add(1, ordering: .relaxed)
        call()
        threads.subtract(1, ordering: .relaxed)
      }
    }
    try calls.start()
    let gates = [Gate(), Gate(), Gate()]
    let journal = Journal()
    async let first: Void = calls.run(0, isLong: true) { gates[0].pass() }
    async let second: Void = calls.run(1, isLong: true) { gates[1].pass() }
    try await gates[0].awaitBegin()
    try await gates[1].awaitBegin()
    async let last: Void = calls.run(2, isLong: true) {
      journal.note("third")
      gates[2].pass()
    }
    for key in 3..<20 { #expect(await calls.run(key, isLong: false) { key } == key) }
    #expect(journal.all.isEmpty)
    gates[0].open()
    try await gates[2].awaitBegin()
    gates[1].open()
    gates[2].open()
    _ = await (first, second, last)
    await calls.stop()
    // Those that are not waited for end by themselves.
    let isAlone = try await OwnThread.run { Patience.wait { threads.load(ordering: .relaxed) == 0 } }
    #expect(isAlone)
  }

  /// How many calls run at once.
  private final class Load: Sendable {
    private let counts = Mutex((now: 0, most: 0))
    var most: Int { counts.withLock { $0.most } }
    func carry() {
      counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      counts.withLock { $0.now -= 1 }
    }
  }

  @Test func `many calls at once are all made, and no more at once than may be`() async throws {
    let load = Load()
    let calls = BlockingCalls<Int>(name: "calls", limit: 4, longLimit: 2)
    try calls.start()
    await withTaskGroup { group in
      for number in 0..<1000 {
        group.addTask {
          let result = await calls.run(number % 10, isLong: number % 3 == 0) {
            load.carry()
            return number
          }
          #expect(result == number)
        }
      }
    }
    await calls.stop()
    #expect((1...4).contains(load.most))
    #expect(await calls.run(1, isLong: true) { 1 } == 1, "after the end, too")
    await calls.stop()
  }

  @Test func `a machine without threads refuses the start, and calls are made all the same`() async throws {
    let calls = BlockingCalls<Int>(name: "calls", limit: 4, longLimit: 4) { _ throws(Errno) in throw .again }
    #expect(throws: Errno.again) { try calls.start() }
    await withTaskGroup { group in
      for number in 0..<100 { group.addTask { #expect(await calls.run(number, isLong: true) { number } == number) } }
    }
    await calls.stop()
  }
}
