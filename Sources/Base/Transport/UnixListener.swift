package import LinuxSystem

/// Accepts connections on a Unix socket and hands them out, with the credentials of their peer.
///
/// A peer of a user that may not connect is closed before a byte is read or written. Where its share of connections is
/// used up, and when descriptors have run out, it stops accepting: clients wait in the kernel's queue, and the loop does
/// not spin. It goes on when a connection has ended, or a moment later.
///
/// One descriptor is kept in reserve: when descriptors have run out although no connection is open, so that no
/// connection's end would free one, it serves to turn the waiting client away at once.
package final class UnixListener: EventHandler {
  /// The counts of refused clients and of pauses.
  package struct Refusals: Equatable, Sendable {
    /// Turned away because they belong to another user.
    package var otherUser = 0
    /// Turned away because no descriptor was left for them.
    package var noDescriptor = 0
    /// How often accepting was suspended.
    package var pauses = 0
  }

  /// Takes over a connection: non-blocking and close-on-exec.
  package typealias Accept = (consuming FileDescriptor, PeerCredentials) -> Void

  /// How many connections are accepted at most before other descriptors get their turn: what each says first may take a
  /// tenth of a millisecond.
  private static let acceptsPerTurn = 4
  /// In how many turns, one behind the other, connections must have waited before more than one is accepted in a turn.
  ///
  /// Mostly there is one, and to ask for a second one is a call for nothing.
  private static let busyTurns = 16
  /// After which time it is tried again whether there are descriptors.
  private static let retryDelay = Duration.milliseconds(100)

  private let loop: EventLoop
  private let socket: UnixSocket.Listening
  private let users: UserSet
  /// How many connections it may have open.
  package private(set) var share = ConnectionShare(.max)
  private var accept: Accept = { connection, _ in connection.close() }
  /// Takes the next waiting connection; tests let it fail.
  var next: (borrowing FileDescriptor) throws(Errno) -> FileDescriptor? = { listener throws(Errno) in
    try UnixSocket.accept(from: listener)
  }
  private var registration: Registration?
  private var retry: TimerID?
  private var reserve: FileDescriptor?
  private var isPaused = false
  private var lastTurn = UInt64.max
  private var turnsInARow = 0
  /// Called when accepting is suspended because as many connections are open as may be.
  package var isFull: () -> Void = {}
  /// Clients that were not served, for logs and status.
  package private(set) var refusals = Refusals()
  /// Connections that were handed out and have not been reported as closed.
  package private(set) var connections = 0

  /// Prepares to accept.
  ///
  /// - Parameters:
  ///   - loop: on which it accepts.
  ///   - socket: listens, and is non-blocking.
  ///   - users: whose processes may connect; root is refused too unless it is one of them.
  package init(loop: EventLoop, socket: consuming UnixSocket.Listening, users: UserSet) {
    self.loop = loop
    self.socket = socket
    self.users = users
  }

  /// Begins to accept.
  ///
  /// - Parameters:
  ///   - share: how many connections may be open.
  ///   - accept: takes each connection over, on the loop.
  /// - Throws: `EMFILE` and the like.
  package func start(within share: ConnectionShare, _ accept: @escaping Accept) throws(Errno) {
    guard registration == nil else { return }
    self.accept = accept
    self.share = share
    reserve = try FileDescriptor.open("/dev/null", .read)
    registration = try loop.register(socket.descriptor, .readable, self)
  }

  /// Whether this process made the path of the socket; in the queue of one that a service manager made, clients wait until
  /// the next broker serves them.
  package var ownsPath: Bool { socket.ownsPath }
  /// Whether the path still leads to the socket.
  package var isInPlace: Bool { socket.isInPlace }

  /// Whether processes of a user may connect.
  package func admits(_ user: UInt32) -> Bool { users.contains(user) }

  /// Takes the place of a listener of the same share whose path has gone: its connections live on, and count.
  package func replace(_ other: UnixListener) {
    connections = other.connections
    other.stop()
  }

  /// Stops accepting.
  ///
  /// Connections that were handed out live on.
  package func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
    share.forget(self)
    if let retry { loop.cancel(retry) }
    retry = nil
    reserve = nil
  }

  /// Removes the socket's path if it is still ours; for an orderly end.
  package func removePath() {
    socket.removePath()
  }

  /// To be told when a connection that was handed out has been closed: there may be room again.
  package func connectionClosed() {
    connections -= 1
    share.end()
    if isPaused, share.hasRoom { resume() }
  }

  /// Accepts what waits.
  package func ready(_ events: ReadyEvents) {
    turnsInARow = loop.turns == lastTurn &+ 1 ? turnsInARow + 1 : 0
    lastTurn = loop.turns
    for _ in 0..<(turnsInARow < UnixListener.busyTurns ? 1 : UnixListener.acceptsPerTurn) {
      guard share.hasRoom else {
        if !isPaused { isFull() }
        share.wait(for: self)
        return pause(retrying: false)
      }
      do throws(Errno) {
        guard let connection = try next(socket.descriptor) else {
          turnsInARow = 0
          return
        }
        admit(connection)
      } catch {
        // A client that closed its connection meanwhile is no failure; any other error would come again at once.
        if error == .connectionAborted { continue }
        if error == .tooManyDescriptors || error == .systemTableFull, connections == 0 { turnAway() }
        return pause(retrying: true)
      }
    }
  }

  private func admit(_ connection: consuming FileDescriptor) {
    guard let peer = try? PeerCredentials(of: connection), users.contains(peer.uid) else {
      refusals.otherUser += 1
      return
    }
    connections += 1
    share.begin()
    accept(connection, peer)
  }

  private func turnAway() {
    reserve = nil
    if let client = try? next(socket.descriptor) {
      client.close()
      refusals.noDescriptor += 1
    }
    reserve = try? FileDescriptor.open("/dev/null", .read)
  }

  private func pause(retrying: Bool) {
    if !isPaused { refusals.pauses += 1 }
    isPaused = true
    if let registration { try? loop.update(registration, []) }
    guard retrying, retry == nil else { return }
    retry = loop.schedule(after: UnixListener.retryDelay) { [weak self] in
      self?.retry = nil
      self?.resume()
    }
  }

  /// Accepts again, if it has paused.
  func resume() {
    guard let registration, isPaused else { return }
    isPaused = false
    if reserve == nil { reserve = try? FileDescriptor.open("/dev/null", .read) }
    try? loop.update(registration, .readable)
  }
}
