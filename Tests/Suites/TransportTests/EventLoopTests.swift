import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// Reads what comes and counts.
private final class Reader: EventHandler {
  let descriptor: FileDescriptor
  var received: [UInt8] = []
  var calls = 0
  var onReady: () -> Void = {}

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Two ends of one connection.
  static func pair() throws -> (Reader, Reader) {
    var ends: [Reader] = []
    try UnixSocket.pair(nonBlocking: true).ends { (first, second) in
      ends.append(Reader(first))
      ends.append(Reader(second))
    }
    return (ends[0], ends[1])
  }

  /// Sends one byte to the other end.
  func send(_ byte: UInt8) -> IOResult { descriptor.send([byte], 0..<1) }

  func ready(_ events: ReadyEvents) {
    calls += 1
    var buffer = [UInt8](repeating: 0, count: 64)
    if case .bytes(let count) = descriptor.read(into: &buffer) { received += buffer[..<count] }
    onReady()
  }
}

private actor Counter {
  let loop: EventLoop
  var value = 0
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(_ loop: EventLoop) { self.loop = loop }

  func add(_ amount: Int) -> Int {
    value += amount
    return value
  }

  func addTwice(_ amount: Int) async -> Int {
    value += amount
    await Task.yield()
    value += amount
    return value
  }
}

private final class Observer: TurnObserver {
  private let body: () -> Void

  init(_ body: @escaping () -> Void) { self.body = body }

  func handlersWereCalled() { body() }
}

@Suite(.standardTimeLimit) struct EventLoopTests {
  @Test func `what gathers events is called behind all of them, in the same turn`() throws {
    let loop = try EventLoop()
    let pairs = try (0..<3).map { _ in try Reader.pair() }
    var order: [String] = []
    for (reader, _) in pairs {
      reader.onReady = { order.append("event") }
      _ = try loop.register(reader.descriptor, .readable, reader)
    }
    let observer = Observer { order.append("end") }
    loop.addObserver(observer)
    for (_, writer) in pairs { #expect(writer.send(1) == .bytes(1)) }
    try loop.runOnce()
    #expect(order == ["event", "event", "event", "end"])
  }

  @Test func `a descriptor that is about to be closed is heard of no more, though a duplicate lives on`() throws {
    let loop = try EventLoop()
    let (reader, writer) = try Reader.pair()
    let duplicate = try reader.descriptor.duplicate()
    let registration = try loop.register(reader.descriptor, .readable, reader)
    loop.deregister(registration, willClose: true)
    #expect(writer.send(1) == .bytes(1))
    for _ in 0..<3 { try loop.runOnce() }
    #expect(reader.calls == 0 && loop.registrationCount == 0)
    // Its place in the table is another one's now, who hears of its own events alone.
    let (next, other) = try Reader.pair()
    _ = try loop.register(next.descriptor, .readable, next)
    #expect(other.send(7) == .bytes(1))
    for _ in 0..<3 { try loop.runOnce() }
    #expect(next.received == [7] && next.calls == 1 && reader.calls == 0)
    duplicate.close()
  }

  @Test func `timers go off in order of their deadlines, equal ones in the order in which they were set`() throws {
    let loop = try EventLoop()
    let now = BootClock.now
    var order: [Int] = []
    for (number, delay) in [(4, 3), (0, -5), (2, 1), (3, 1), (1, 0)] {
      _ = loop.schedule(at: now + .milliseconds(delay)) { order.append(number) }
    }
    _ = loop.schedule(at: now + .milliseconds(4)) { loop.stop() }
    try loop.run()
    #expect(order == [0, 1, 2, 3, 4])
  }

  @Test func `a cancelled timer is never called`() throws {
    let loop = try EventLoop()
    var order: [String] = []
    let first = loop.schedule(after: .zero) { order.append("first") }
    let now = BootClock.now
    let second = loop.schedule(at: now + .milliseconds(2)) { order.append("second") }
    _ = loop.schedule(at: now + .milliseconds(1)) { loop.cancel(second) }
    _ = loop.schedule(at: now + .milliseconds(3)) { loop.stop() }
    #expect(loop.cancel(first))
    #expect(!loop.cancel(first))
    try loop.run()
    #expect(order.isEmpty)
    #expect(!loop.cancel(second))
  }

  @Test func `a queue of timers agrees with a sorted list under random use`() {
    var queue = TimerQueue()
    var model: [(deadline: Int64, number: Int, id: TimerID)] = []
    var fired: [Int] = []
    var random = SystemRandomNumberGenerator()
    for number in 0..<2000 {
      let deadline = Int64.random(in: 0..<500, using: &random)
      model.append((deadline, number, queue.schedule(at: deadline) { fired.append(number) }))
      if number % 3 == 0 {
        let victim = model.remove(at: Int.random(in: 0..<model.count, using: &random))
        let isCancelled = queue.cancel(victim.id)
        #expect(isCancelled)
      }
    }
    #expect(queue.count == model.count)
    while let action = queue.takeDue(at: 499) { action() }
    #expect(fired == model.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }.map(\.number))
    let next = queue.nextDeadline()
    #expect(next == nil)
  }

  @Test func `an actor on the loop is entered from a handler without a hop`() throws {
    let loop = try EventLoop()
    let counter = Counter(loop)
    let (reader, peer) = try Reader.pair()
    var value = 0
    reader.onReady = {
      value = counter.assumeIsolated { $0.add(5) }
      loop.stop()
    }
    let registration = try loop.register(reader.descriptor, .readable, reader)
    // The loop holds the reader, and its closure the loop.
    defer { loop.deregister(registration) }
    #expect(peer.send(1) == .bytes(1))
    try loop.run()
    #expect(value == 5)
  }

  @Test func `jobs and calls of other threads run on the loop`() async throws {
    let loop = try EventLoop()
    let counter = Counter(loop)
    let runner = try LoopRunner(loop)
    await withTaskGroup { group in
      for _ in 0..<500 { group.addTask { _ = await counter.addTwice(1) } }
    }
    #expect(await counter.value == 1000)
    let isOnLoop = await withCheckedContinuation { continuation in
      loop.post { continuation.resume(returning: loop.isIsolatingCurrentContext() == true) }
    }
    #expect(isOnLoop)
    #expect(loop.isIsolatingCurrentContext() == false)
    runner.stop()
  }

  @Test func `a stop before the run is kept`() throws {
    let loop = try EventLoop()
    loop.stop()
    try loop.run()
    var ran = false
    _ = loop.schedule(after: .zero) {
      ran = true
      loop.stop()
    }
    try loop.run()
    #expect(ran)
  }

  @Test func `an event for a descriptor that went in the same turn reaches nobody, not even its number's heir`() throws
  {
    let loop = try EventLoop()
    let (first, firstPeer) = try Reader.pair()
    let (second, secondPeer) = try Reader.pair()
    let readers = [first, second]
    var registrations = try readers.map { try loop.register($0.descriptor, .readable, $0) }
    var heirs: [Reader] = []
    for (index, reader) in readers.enumerated() {
      reader.onReady = {
        // Whoever comes first ends the other one, and somebody new takes the other's place in the table.
        let other = 1 - index
        loop.deregister(registrations[other])
        guard let (heir, heirPeer) = try? Reader.pair(), heirPeer.send(9) == .bytes(1) else { return }
        guard let registration = try? loop.register(heir.descriptor, .readable, heir) else { return }
        heirs += [heir, heirPeer]
        registrations.append(registration)
      }
    }
    // The loop holds the readers, and their closures the loop.
    defer { for registration in registrations { loop.deregister(registration) } }
    #expect(firstPeer.send(1) == .bytes(1))
    #expect(secondPeer.send(2) == .bytes(1))
    try loop.runOnce()
    #expect(first.calls + second.calls == 1)
    #expect(heirs.map(\.calls) == [0, 0])
    #expect(Set(registrations).count == 3)
    #expect(Set(registrations.map(\.slot)).count == 2)
    #expect(loop.registrationCount == 2)
    try loop.runOnce()
    #expect(heirs[0].received == [9])
  }

  @Test func `a thousand descriptors are served`() throws {
    let loop = try EventLoop()
    let pairs = try (0..<1000).map { _ in try Reader.pair() }
    let readers = pairs.map(\.0)
    var left = readers.count
    var registrations: [Registration] = []
    for reader in readers {
      reader.onReady = {
        left -= 1
        if left == 0 { loop.stop() }
      }
      registrations.append(try loop.register(reader.descriptor, .readable, reader))
    }
    // The loop holds the readers, and their closures the loop.
    defer { for registration in registrations { loop.deregister(registration) } }
    for (index, pair) in pairs.enumerated() { _ = pair.1.send(UInt8(index % 251)) }
    try loop.run()
    #expect(readers.enumerated().allSatisfy { $1.received == [UInt8($0 % 251)] })
  }

  @Test func `interest can be taken back and given again`() throws {
    let loop = try EventLoop()
    let (reader, peer) = try Reader.pair()
    let registration = try loop.register(reader.descriptor, .readable, reader)
    _ = peer.send(1)
    try loop.update(registration, [])
    try loop.runOnce()
    #expect(reader.calls == 0)
    try loop.update(registration, .readable)
    try loop.runOnce()
    #expect(reader.received == [1])
    loop.deregister(registration)
    loop.deregister(registration)
    try loop.update(registration, .readable)
    #expect(loop.registrationCount == 0)
  }

  @Test func `a regular file is always ready`() throws {
    let scratch = Scratch()
    try scratch.write("content", to: "file")
    let loop = try EventLoop()
    let reader = Reader(try FileDescriptor.open(scratch.path + "/file", .read))
    let registration = try loop.register(reader.descriptor, .readable, reader)
    try loop.runOnce()
    #expect(reader.received == Array("content".utf8))
    try loop.update(registration, [])
    try loop.runOnce()
    #expect(reader.calls == 1)
  }

  @Test func `many jobs at once do not keep descriptors waiting`() throws {
    let loop = try EventLoop()
    let (reader, peer) = try Reader.pair()
    _ = try loop.register(reader.descriptor, .readable, reader)
    let counter = Counter(loop)
    for _ in 0..<1000 { loop.post { _ = counter.assumeIsolated { $0.add(1) } } }
    try loop.runOnce()
    _ = peer.send(1)
    try loop.runOnce()
    #expect(reader.calls == 1)
    let ran = counter.assumeIsolated { $0.value }
    #expect(ran > 0 && ran < 1000)
    while counter.assumeIsolated({ $0.value }) < 1000 { try loop.runOnce() }
  }
}
