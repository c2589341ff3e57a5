import HTTP
package import LinuxSystem
import Synchronization

/// One open door: a strict HTTP/1.1 server that forwards to one other, with the token of a profile attached.
///
/// Each connection has a thread of its own, which waits for its client, for the broker and for the server: a slow one holds
/// up no other.
package final class Door: Sendable {
  /// How many connections it has at most: more than one client opens, with room for its helpers.
  static let mostConnections = 64
  /// How often it is looked at whether connections to the server are kept for too long, while clients are connected.
  private static let laneTime = Duration.seconds(120)
  /// The user that may connect.
  private static let owner = ProcessIdentity.user

  /// A listening socket.
  package enum Listener: ~Copyable, Sendable {
    /// One in the file system.
    case unix(UnixSocket.Listening)
    /// A port of 127.0.0.1.
    case port(LoopbackSocket.Listening)
    /// A Unix socket that a client has passed, and keeps.
    case passedUnix(FileDescriptor)
    /// A port of a loopback address, passed in the same way.
    case passedPort(FileDescriptor)
  }

  /// How often it was used, since it was opened.
  package struct Counts: Sendable, Equatable {
    /// Requests that were forwarded.
    package var forwarded = 0
    /// Requests that were refused.
    package var refused = 0
    /// Connections that are open.
    package var connections = 0
  }

  /// Its properties.
  let settings: DoorSettings
  /// The means by which it serves.
  let means: DoorMeans
  /// The requests to the server, each on the thread of its connection.
  let lanes: TransferLanes
  private let listener: Listener
  private let isPassed: Bool
  private let bell: EventCounter
  private let hasClosed = Atomic(false)
  // Counted by all connections: no lock is taken for a request.
  private let forwarded = Atomic(0)
  private let refused = Atomic(0)
  private let connections = Mutex(0)

  /// Begins to serve.
  ///
  /// - Throws: what eventfd(2) and pthread_create(3) say.
  package init(_ settings: DoorSettings, on listener: consuming Listener, with means: DoorMeans) throws(Errno) {
    (self.settings, self.means, lanes) = (settings, means, TransferLanes(of: means.transport))
    bell = try EventCounter()
    switch listener {
    case .passedUnix: isPassed = true
    case .passedPort: isPassed = true
    default: isPassed = false
    }
    self.listener = listener
    // Before there is a thread: the end of the client waits for it.
    lanes.enter()
    do throws(Errno) { try SystemThread { [self] in acceptAll() }.detach() } catch {
      lanes.leave()
      throw error
    }
  }

  /// How often it was used.
  package var counts: Counts {
    Counts(
      forwarded: forwarded.load(ordering: .relaxed), refused: refused.load(ordering: .relaxed),
      connections: connections.withLock { $0 })
  }
  /// Whether it was closed.
  var isClosed: Bool { hasClosed.load(ordering: .acquiring) }

  /// Accepts no connection any more, and ends those that are open.
  package func close() {
    // One that is admitted meanwhile finds it closed, or is found here by the bell.
    connections.withLock { _ in hasClosed.store(true, ordering: .releasing) }
    bell.raise()
    switch listener {
    case .unix(let socket): socket.removePath()
    case .port(let socket): socket.stop()
    default: break
    }
  }

  /// The descriptor that becomes readable when the door is closed, and stays so.
  var closing: Int32 { bell.descriptor.number }

  /// Counts a request.
  func note(isForwarded: Bool) {
    if isForwarded { forwarded.add(1, ordering: .relaxed) } else { refused.add(1, ordering: .relaxed) }
  }

  // MARK: Connections

  private func acceptAll() {
    TransferLanes.prepareThread()
    var poll = PollSet(count: 2)
    poll.watch(0, closing, readable: true)
    poll.watch(1, number, readable: true)
    while !isClosed {
      _ = try? poll.wait(atMost: trim())
      while !isClosed, let connection = accept() {
        admit(connection)
        // Another program that has the socket may make it one that blocks, or take what waits: it is asked once each time that
        // it is ready.
        if isPassed { break }
      }
    }
    lanes.close()
    lanes.leave()
  }

  /// Ends connections to the server that are kept for too long; how long it takes until that is to be done again.
  private func trim() -> Duration? {
    // Before: a connection gives its lane back before it is counted no more.
    let most = counts.connections > 0 ? Self.laneTime : nil
    return lanes.trim() ?? most
  }

  private var number: Int32 {
    switch listener {
    case .unix(let socket): socket.descriptor.number
    case .port(let socket): socket.descriptor.number
    case .passedUnix(let socket): socket.number
    case .passedPort(let socket): socket.number
    }
  }

  /// A connection that waits; nil where there is none, or no descriptor for it.
  private func accept() -> FileDescriptor? {
    guard isPassed else { return acceptNow() }
    // Where another program has made the socket one that blocks, the end of the client must not wait for this.
    lanes.leave()
    defer { lanes.enter() }
    return acceptNow()
  }

  private func acceptNow() -> FileDescriptor? {
    do throws(Errno) {
      switch listener {
      case .unix(let socket): return try UnixSocket.accept(from: socket.descriptor)
      case .port(let socket): return try UnixSocket.accept(from: socket.descriptor)
      case .passedUnix(let socket): return try UnixSocket.accept(from: socket)
      case .passedPort(let socket): return try UnixSocket.accept(from: socket)
      }
    } catch {
      // The machine has no descriptors: those that are open come back, and none does sooner by asking again at once.
      var pause = PollSet(count: 1)
      pause.watch(0, closing, readable: true)
      _ = try? pause.wait(atMost: .milliseconds(50))
      return nil
    }
  }

  /// Serves a connection of the owner's; that of anybody else is closed.
  private func admit(_ descriptor: consuming FileDescriptor) {
    guard isOwners(descriptor), begin() else { return }
    let number = descriptor.release()
    lanes.enter()
    do throws(Errno) {
      try SystemThread { [self] in
        TransferLanes.prepareThread()
        serve(FileDescriptor(owning: number))
        end()
        lanes.leave()
      }.detach()
    } catch {
      lanes.leave()
      _ = FileDescriptor(owning: number)
      end()
    }
  }

  private func serve(_ descriptor: consuming FileDescriptor) {
    var connection = DoorConnection(descriptor, of: self)
    connection.serve()
  }

  private func isOwners(_ descriptor: borrowing FileDescriptor) -> Bool {
    settings.port == nil
      ? (try? PeerCredentials(of: descriptor)).map { $0.uid == Self.owner || $0.uid == 0 } ?? false
      : LoopbackSocket.user(connectedTo: descriptor) == Self.owner
  }

  private func begin() -> Bool {
    connections.withLock { count in
      guard !isClosed, count < Self.mostConnections else { return false }
      count += 1
      return true
    }
  }

  private func end() { connections.withLock { $0 -= 1 } }
}
