import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import Transport

@Suite(.standardTimeLimit) struct WatcherTests {
  @Test func `a clock that is set is told of once for each time, on the loop`() throws {
    let loop = try EventLoop()
    try UnixSocket.pair(nonBlocking: true).ends { alarm, hand in
      // The alarm of the kernel can be played only: one byte stands for one time that the clock was set.
      let watch = ClockWatch(alarm) { number in
        var byte: UInt8 = 0
        return read(number, &byte, 1) == 1 ? -Int64(ECANCELED) : -Int64(EAGAIN)
      }
      var times = 0
      let watcher = try ClockWatcher(loop: loop, watch: watch) { times += 1 }
      try loop.runOnce()
      #expect(times == 0)
      for expected in 1...2 {
        #expect(hand.send([1], 0..<1) == .bytes(1))
        try loop.runOnce()
        try loop.runOnce()
        #expect(times == expected)
      }
      watcher.stop()
      #expect(hand.send([1], 0..<1) == .bytes(1))
      try loop.runOnce()
      #expect(times == 2 && loop.registrationCount == 0)
    }
  }

  @Test func `an alarm that is broken is heard no more, and the loop rests`() throws {
    let loop = try EventLoop()
    try UnixSocket.pair(nonBlocking: true).ends { alarm, hand in
      let watch = ClockWatch(alarm) { _ in -Int64(EBADF) }
      _ = try ClockWatcher(loop: loop, watch: watch) { Issue.record("nobody has set the clock") }
      #expect(hand.send([1], 0..<1) == .bytes(1))
      try loop.runOnce()
      #expect(loop.registrationCount == 0)
    }
  }

  @Test func `the real alarm is watched`() throws {
    let loop = try EventLoop()
    let watcher = try ClockWatcher(loop: loop, watch: try ClockWatch()) { Issue.record("nobody has set the clock") }
    try loop.runOnce()
    #expect(loop.registrationCount == 1)
    watcher.stop()
    #expect(loop.registrationCount == 0)
  }

  @Test func `changes of the network that belong together are told of once, when they have come to rest`() throws {
    let loop = try EventLoop()
    let socket = try RouteSocket()
    // A request for every link, which the kernel answers as it tells of changes.
    let request: [UInt8] = [20, 0, 0, 0, 18, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(socket.descriptor.send(request, 0..<request.count) == .bytes(20))
    let begin = BootClock.now
    var told: [Duration] = []
    let watcher = try NetworkWatcher(loop: loop, socket: socket) {
      told.append(BootClock.now - begin)
      loop.stop()
    }
    try loop.run()
    #expect(told.count == 1 && (told.first ?? .zero) >= NetworkWatcher.rest)
    watcher.stop()
    #expect(loop.registrationCount == 0)
  }
}
