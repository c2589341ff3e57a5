import LinuxSystem
package import SecretMemory
import Synchronization

/// A database: one connection on a thread of its own, made when it is needed and again after it was lost.
///
/// While nothing is asked, the thread waits for notifications on the same connection: see ``listen(on:_:)``.
///
/// Between two attempts to connect it rests, longer each time: what is asked meanwhile fails at once.
package actor PostgreSQL {
  /// A parameter of a statement.
  package enum Parameter: Sendable {
    /// A text.
    case text(String)
    /// A number of 64 bits.
    case number(Int64)
    /// Bytes.
    case bytes([UInt8])
    /// Texts: an array.
    case texts([String])
    /// Numbers of 64 bits, or NULL: an array.
    case numbers([Int64?])
  }

  /// A value of a row.
  package struct Value: Sendable, Equatable {
    /// Its bytes in PostgreSQL's binary form; nil for NULL.
    package let bytes: [UInt8]?

    /// The text that they are; nil for NULL.
    package var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The number of 64 bits that they are (big-endian); nil for anything else.
    package var number: Int64? {
      guard let bytes, bytes.count == 8 else { return nil }
      return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
  }

  /// Gets the password for a new connection; nil where there is none.
  package typealias PasswordSource = @Sendable () async -> Result<Secret?, PostgreSQLError>

  /// How long a connection, and how long a statement may take: both are answered within a second by a database that works.
  package static let patience = Duration.seconds(5)
  /// The shortest and the longest rest between attempts to connect: members of a fleet are spread over it.
  private static let rests = (shortest: Duration.milliseconds(200), longest: Duration.seconds(15))

  /// The thread.
  nonisolated let worker = WorkerThread(name: "postgresql")

  /// The executor that the actor runs on.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The worker lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// How long the end waits for a statement, or for a name server: what takes longer ends with the process.
  private static let lastPatience = Duration.seconds(1)

  /// The way to the database.
  let settings: PostgreSQLSettings
  private let patience: Duration
  private let password: PasswordSource
  /// Counts those who ask, and wakes the thread for them.
  nonisolated let askers = Askers()
  /// The connection; nil before the first, and after it was lost.
  var connection: PostgreSQLConnection?
  /// The channel that is listened to; nil for none.
  var listening: Listening?
  /// Whether the thread waits for notifications, or is about to.
  var isIdling = false
  private var failures = 0
  private var lastFailure = PostgreSQLError.notConnected("the broker is ending")
  private var restsUntil = Duration.zero
  /// Whether nothing is carried out any more.
  private(set) var isClosed = false

  /// A database without a connection yet.
  ///
  /// - Parameters:
  ///   - settings: its address.
  ///   - patience: how long a connection, and how long a statement may take.
  ///   - password: gets the password for a new connection.
  package init(
    _ settings: PostgreSQLSettings, patience: Duration = PostgreSQL.patience, password: @escaping PasswordSource
  ) {
    (self.settings, self.patience, self.password) = (settings, patience, password)
  }

  /// Carries out one statement, on a new connection where there is none.
  ///
  /// - Parameters:
  ///   - statement: one statement, with `$1` and so on for the parameters.
  ///   - parameters: the parameters; numbers are sent as texts, which the statement casts.
  /// - Returns: the rows.
  /// - Throws: `PostgreSQLError`; with `.lost` it may have been carried out.
  package nonisolated func run(
    _ statement: String, _ parameters: [Parameter] = []
  ) async throws(PostgreSQLError) -> [[Value]] {
    askers.begin()
    return try await carryOut(statement, parameters)
  }

  private func carryOut(_ statement: String, _ parameters: [Parameter]) async throws(PostgreSQLError) -> [[Value]] {
    defer {
      askers.end()
      idle()
    }
    let connection = try await connected()
    do throws(PostgreSQLError) {
      let rows = try connection.run(
        statement, parameters.map(\.sent), until: BootClock.now + patience)
      hear(connection)
      return rows.map { $0.map { Value(bytes: $0) } }
    } catch {
      if case .refused(let state, _) = error, !Self.endsConnection(state) { throw error }
      lose()
      throw error
    }
  }

  /// Whether a refusal with this state ends the connection, or says that it leads to a server that takes no writes.
  private static func endsConnection(_ state: String) -> Bool {
    state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
  }

  private func connected() async throws(PostgreSQLError) -> PostgreSQLConnection {
    if let connection { return connection }
    guard !isClosed, BootClock.now >= restsUntil else { throw lastFailure }
    let secret = await password()
    // Another caller may have connected meanwhile.
    if let connection { return connection }
    guard !isClosed, BootClock.now >= restsUntil else { throw lastFailure }
    do throws(PostgreSQLError) {
      let password = try secret.get()
      let new = try PostgreSQLConnection.open(settings, password: password, until: BootClock.now + patience)
      try beginListening(on: new, password)
      (connection, failures) = (new, 0)
      return new
    } catch {
      let longest = min(Self.rests.shortest * Double(1 << min(failures, 10)), Self.rests.longest)
      restsUntil = BootClock.now + longest * Double.random(in: 0.5...1)
      failures += 1
      lastFailure = error
      throw error
    }
  }

  /// Ends the connection, and the thread; nothing is carried out any more.
  ///
  /// It does not wait for a call of libpq that goes on: the thread is left to it then.
  package nonisolated func close() async {
    askers.begin()
    let isClosed = await withCheckedContinuation { continuation in
      let end = Ending(continuation)
      Task(executorPreference: TaskThread.shared) {
        await self.closeConnection()
        end.finish(true)
      }
      TaskThread.shared.schedule(after: Self.lastPatience) { end.finish(false) }
    }
    if isClosed { worker.stop() }
  }

  private func closeConnection() {
    isClosed = true
    lose()
  }
}

/// The end of a database, which is awaited once.
private final class Ending: Sendable {
  private let waiting: Mutex<CheckedContinuation<Bool, Never>?>

  init(_ continuation: CheckedContinuation<Bool, Never>) { waiting = Mutex(continuation) }

  /// Goes on, unless that was done already; `isClosed` says whether the connection has ended.
  func finish(_ isClosed: Bool) {
    let continuation = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    continuation?.resume(returning: isClosed)
  }
}

extension PostgreSQL.Parameter {
  /// The parameter as it is sent.
  fileprivate var sent: PostgreSQLConnection.Parameter {
    switch self {
    case .text(let text): .text(text)
    case .number(let number): .text(String(number))
    case .bytes(let bytes): .bytes(bytes)
    case .texts(let texts): .text(Self.array(texts.map(Self.quoted)))
    case .numbers(let numbers): .text(Self.array(numbers.map { $0.map(String.init) ?? "NULL" }))
    }
  }
  /// The text of an array (PostgreSQL, section 8.15.2).
  private static func array(_ elements: [String]) -> String { "{\(elements.joined(separator: ","))}" }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text.unicodeScalars {
      if character == "\"" || character == "\\" { quoted.append("\\") }
      quoted.unicodeScalars.append(character)
    }
    return quoted + "\""
  }
}
