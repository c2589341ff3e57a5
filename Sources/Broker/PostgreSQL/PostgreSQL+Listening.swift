import LinuxSystem
import SecretMemory
import Synchronization

/// Notifications (LISTEN, PostgreSQL, chapter 34.9): hints that come unasked, for as long as the connection is the same at the
/// server.
extension PostgreSQL {
  /// A word of the server, or about it.
  package enum Telling: Sendable, Equatable {
    /// Notifications come from now on; earlier ones were lost.
    case began
    /// None come any more.
    case ended
    /// One of the channel has come, with this payload.
    case told(String)
  }

  /// The channel that is listened to.
  struct Listening {
    /// The channel.
    let channel: String
    /// Takes what comes, on the thread of the database.
    let tell: @Sendable (Telling) -> Void
    /// Whether notifications come on the present connection.
    var isOn = false
  }

  /// The time for finding out whether notifications come through a pool: one connection more is made for that.
  private static let patienceWithPool = Duration.seconds(1)

  /// Listens to a channel on every connection from the next one on, where that brings notifications.
  ///
  /// - Parameters:
  ///   - channel: a plain identifier.
  ///   - tell: is told on the thread of the database.
  package func listen(on channel: String, _ tell: @escaping @Sendable (Telling) -> Void) {
    listening = Listening(channel: channel, tell: tell)
  }

  /// Begins to listen on a connection that is not used yet.
  ///
  /// - Throws: `PostgreSQLError.lost` where the connection is.
  func beginListening(on connection: PostgreSQLConnection, _ password: Secret?) throws(PostgreSQLError) {
    guard let channel = listening?.channel else { return }
    do throws(PostgreSQLError) {
      guard try brings(channel, to: connection, password) else { return }
      listening?.isOn = true
      listening?.tell(.began)
    } catch .refused {
      // A pool that takes no LISTEN, for one: everything is polled.
    }
  }

  /// Listens, unless the connection is another one at the server from one statement to the next: a pool that gives its
  /// connections away between transactions takes LISTEN, and brings the notifications to the client that has that connection then.
  ///
  /// - Returns: whether notifications come.
  private func brings(
    _ channel: String, to connection: PostgreSQLConnection, _ password: Secret?
  ) throws(PostgreSQLError) -> Bool {
    let deadline = BootClock.now + Self.patience
    let process = try Self.process(of: connection, until: deadline)
    if process == connection.process {
      _ = try connection.run("LISTEN \(channel)", [], until: deadline)
      return true
    }
    let end = BootClock.now + Self.patienceWithPool
    guard let other = try? PostgreSQLConnection.open(settings, password: password, until: end),
      let otherProcess = try? Self.process(of: other, until: end), otherProcess != process,
      try Self.process(of: connection, until: deadline) == process
    else { return false }
    _ = try connection.run("LISTEN \(channel)", [], until: deadline)
    // What comes while this connection asks nothing can come only if it has one of the server's for itself.
    let probe = "probe \(UInt64.random(in: 0...UInt64.max))"
    let parameters = [channel, probe].map { PostgreSQLConnection.Parameter.text($0) }
    let isSent = (try? other.run("SELECT pg_notify($1, $2)", parameters, until: end)) != nil
    while isSent, BootClock.now < end {
      connection.waitForNotification(until: end)
      try connection.consume()
      if connection.takeNotifications().contains(where: { $0.payload == probe }) { return true }
    }
    _ = try connection.run("UNLISTEN \(channel)", [], until: deadline)
    return false
  }

  /// The process of the server that carries out a statement of a connection.
  private static func process(
    of connection: PostgreSQLConnection, until deadline: Duration
  ) throws(PostgreSQLError) -> Int? {
    let rows = try connection.run("SELECT pg_backend_pid()::bigint", [], until: deadline)
    return rows.first?.first.flatMap { Value(bytes: $0).number }.map { Int($0) }
  }

  /// Takes out what has come unasked.
  func hear(_ connection: PostgreSQLConnection) {
    for notification in connection.takeNotifications() {
      guard let listening, listening.isOn, notification.channel == listening.channel else { continue }
      listening.tell(.told(notification.payload))
    }
  }

  /// Gives the connection up.
  func lose() {
    connection = nil
    guard let listening, listening.isOn else { return }
    self.listening?.isOn = false
    listening.tell(.ended)
  }

  /// Waits for notifications on the thread until something is asked, if any can come.
  func idle() {
    guard listening?.isOn == true, connection != nil, !isIdling, !isClosed, !askers.isAny else { return }
    isIdling = true
    Task { waitUntilAsked() }
  }

  private func waitUntilAsked() {
    defer { isIdling = false }
    // Where no thread could be started, this one is another's.
    guard (try? worker.start()) != nil else { return }
    while let connection, listening?.isOn == true, let bell = askers.silencedBell() {
      connection.waitForNotification(or: bell)
      do throws(PostgreSQLError) {
        try connection.consume()
        hear(connection)
      } catch { lose() }
    }
  }
}

/// The callers that ask a database: while there are any, its thread waits for nothing else.
final class Askers: Sendable {
  private let count = Atomic(0)
  /// Nil where there is no descriptor left: then nothing is waited for.
  private let bell: Bell?

  private final class Bell: Sendable {
    let counter: EventCounter
    init() throws(Errno) { counter = try EventCounter() }
  }

  /// There are none yet.
  init() { bell = try? Bell() }

  /// Whether there is one.
  var isAny: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// One more asks.
  func begin() {
    count.add(1, ordering: .sequentiallyConsistent)
    bell?.counter.raise()
  }

  /// One has been answered.
  func end() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// The descriptor of the bell, which rings for all who ask after this; nil where there is one already.
  func silencedBell() -> Int32? {
    guard let bell else { return nil }
    bell.counter.clear()
    return isAny ? nil : bell.counter.descriptor.number
  }
}
