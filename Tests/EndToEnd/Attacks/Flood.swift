import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// One way to keep a daemon busy.
struct Flood: Sendable {
  /// What it is called in the table.
  let name: String
  /// How many connections it comes over.
  var connections = 30
  /// Whether it reads what is answered.
  var reads = true
  /// Whether each connection ends behind its first message, and the next one begins.
  var reconnects = false
  /// Whether the next message is sent once the last one is answered, so that no long answers pile up.
  var awaitsAnswers = false
  /// What is sent at a time, framed, by its number on the connection.
  let message: @Sendable (Int) -> [UInt8]

  /// A flood of one request, over and over: its text without `jsonrpc` and `id`.
  init(_ name: String, _ members: String) {
    let line = Array((#"{"jsonrpc":"2.0","id":1,"# + members + "}\n").utf8)
    self.init(name) { _ in line }
  }

  init(_ name: String, _ message: @escaping @Sendable (Int) -> [UInt8]) {
    self.name = name
    self.message = message
  }

  /// A flood in progress: threads of the lowest priority, so that what is measured is the daemon and not a lack of
  /// processors.
  final class Tide: Sendable {
    private let isOver = Atomic(false)
    private let sent = Atomic(0)
    private let answered = Atomic(0)
    private let threads: Mutex<[pthread_t]> = Mutex([])

    /// Begins.
    init(_ flood: Flood, on path: String) {
      let halves = (0..<2).map { half in (0..<flood.connections).filter { $0 % 2 == half } }
      let begun = halves.map { numbers in
        Threads.start { self.run(flood, path, numbers.count) }
      }
      threads.withLock { $0 = begun }
    }

    /// Ends it; how many messages were sent, and how many answers were read.
    func end() -> (sent: Int, answered: Int) {
      isOver.store(true, ordering: .relaxed)
      for thread in threads.withLock({ $0 }) { Threads.join(thread) }
      return (sent.load(ordering: .relaxed), answered.load(ordering: .relaxed))
    }

    private func run(_ flood: Flood, _ path: String, _ count: Int) {
      setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
      Processor.first.hold()
      var clients = (0..<count).map { FloodClient(flood, path, first: $0 << 32) }
      while !isOver.load(ordering: .relaxed) {
        var isBusy = false
        for index in clients.indices where clients[index].step() { isBusy = true }
        if !isBusy { usleep(500) }
      }
      for index in clients.indices { clients[index].end() }
      sent.add(clients.reduce(0) { $0 + $1.sent }, ordering: .relaxed)
      answered.add(clients.reduce(0) { $0 + $1.answered }, ordering: .relaxed)
    }
  }
}
