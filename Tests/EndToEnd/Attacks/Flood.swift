import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// One way to keep a daemon busy with legal messages.
struct Flood: Sendable {
  /// What it is called in the table.
  let name: String
  /// How many connections it comes over.
  var connections = 30
  /// Whether it reads what is answered.
  var reads = true
  /// Whether each connection ends behind its first message, and the next one begins.
  var reconnects = false
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
    private let threads: Mutex<[pthread_t]> = Mutex([])

    /// Begins.
    init(_ flood: Flood, on path: String) {
      let halves = (0..<2).map { half in (0..<flood.connections).filter { $0 % 2 == half } }
      let begun = halves.map { numbers in
        Threads.start { self.run(flood, path, numbers.count) }
      }
      threads.withLock { $0 = begun }
    }

    /// Ends it; how many messages were sent.
    func end() -> Int {
      isOver.store(true, ordering: .relaxed)
      for thread in threads.withLock({ $0 }) { Threads.join(thread) }
      return sent.load(ordering: .relaxed)
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
    }
  }
}

/// One connection of a flood.
struct FloodClient {
  private let flood: Flood
  private let path: String
  private var descriptor: Int32 = -1
  private let first: Int
  private var number: Int
  private var pending: [UInt8] = []
  private var written = 0
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// How many messages have begun to go.
  private(set) var sent = 0

  init(_ flood: Flood, _ path: String, first: Int) {
    self.flood = flood
    self.path = path
    self.first = first
    number = first
  }

  /// Does what can be done without waiting; false if there was nothing.
  mutating func step() -> Bool {
    guard descriptor >= 0 || connect() else { return false }
    var isBusy = false
    if flood.reads {
      let size = buffer.count
      while case let count = recv(descriptor, &buffer, size, Int32(MSG_DONTWAIT)), count != -1 {
        guard count > 0 else {
          end()
          return true
        }
        isBusy = true
      }
      if errno != EAGAIN {
        end()
        return true
      }
    }
    if written == pending.count {
      pending = flood.message(number)
      written = 0
      number += 1
    }
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    let count = pending.withUnsafeBytes { bytes in
      send(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written, flags)
    }
    // A message of no bytes is none: then the connection only waits.
    if count > 0 {
      isBusy = true
      if written == 0 { sent += 1 }
      written += count
      if written == pending.count, flood.reconnects { end() }
    } else if count < 0, errno != EAGAIN {
      end()
    }
    return isBusy
  }

  private mutating func connect() -> Bool {
    guard let socket = try? UnixSocket.connect(to: path) else { return false }
    descriptor = socket.release()
    return true
  }

  /// Closes the connection; the next one begins with the first message.
  mutating func end() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    (pending, written, number) = ([], 0, first)
  }
}
