import CPostgreSQL
import LinuxSystem
import SecretMemory

/// One connection; it is used on one thread, which waits in each call until its time is over.
@safe
final class PostgreSQLConnection {
  /// A parameter of a statement.
  enum Parameter {
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
  }

  private let library: PostgreSQLLibrary
  // Made by the library, and freed once, when this object ends.
  private let pointer: OpaquePointer

  /// Connects to the first server of the settings that takes it, until an uptime at most.
  ///
  /// Each server has an equal part of the time that is left, so that one that says nothing does not stand for the others:
  /// libpq tries the next one only after a failure.
  ///
  /// - Throws: `PostgreSQLError`; where several servers were tried, `.notConnected` with what each of them said.
  static func open(
    _ settings: PostgreSQLSettings, password: Secret?, until deadline: Duration
  ) throws(PostgreSQLError) -> PostgreSQLConnection {
    let library = try PostgreSQLLibrary.load()
    let (parameters, servers) = (try settings.parameters(library), try settings.servers(library))
    var reasons: [String] = []
    for (index, server) in servers.enumerated() {
      let now = BootClock.now
      let part = max(deadline - now, .zero) / (servers.count - index)
      do throws(PostgreSQLError) {
        return try PostgreSQLConnection(library, parameters + server, password: password, until: now + part)
      } catch .notConnected(let reason) { if !reasons.contains(reason) { reasons.append(reason) } }
    }
    throw .notConnected(reasons.joined(separator: "; "))
  }

  private init(
    _ library: PostgreSQLLibrary, _ parameters: [(String, String)], password: Secret?, until deadline: Duration
  ) throws(PostgreSQLError) {
    var values = cpostgresql_values()
    for (name, value) in parameters { Self.add(value, as: name, to: &values) }
    if let password {
      password.withBytes { bytes in
        // The bytes live until the call returns, which copies them.
        unsafe bytes.withUnsafeBytes { bytes in
          // As above.
          _ = unsafe cpostgresql_add(&values, "password", Int32(CPOSTGRESQL_TEXT), bytes.baseAddress, bytes.count)
        }
      }
    }
    // The library is never unloaded, and copies the values.
    let connection = unsafe cpostgresql_start(library.table, &values)
    // Null without memory alone.
    guard let connection = unsafe connection else { throw .notConnected("out of memory") }
    self.library = library
    unsafe pointer = connection
    try finishConnecting(until: deadline)
  }

  deinit {
    // This is the only reference to the connection.
    unsafe cpostgresql_finish(library.table, pointer)
  }

  /// Adds a text; there are fewer than there is room for.
  private static func add(_ text: String, as name: String? = nil, to values: inout cpostgresql_values) {
    // Name and text are NUL-terminated for the call, which copies them.
    _ = unsafe cpostgresql_add(&values, name, Int32(CPOSTGRESQL_TEXT), text, text.utf8.count)
  }

  private func finishConnecting(until deadline: Duration) throws(PostgreSQLError) {
    // The connection lives as long as this object, here and below.
    guard unsafe cpostgresql_status(library.table, pointer) != Int32(CPOSTGRESQL_CONNECTION_BAD) else {
      throw .notConnected(message)
    }
    var state = Int32(CPOSTGRESQL_POLL_WRITING)
    while Int(state) != CPOSTGRESQL_POLL_OK {
      guard Int(state) != CPOSTGRESQL_POLL_FAILED else { throw .notConnected(message) }
      guard wait(forRoom: Int(state) == CPOSTGRESQL_POLL_WRITING, until: deadline) else {
        throw .notConnected("no answer of the database in time")
      }
      // As above.
      state = unsafe cpostgresql_poll(library.table, pointer)
    }
    // As above.
    guard unsafe cpostgresql_make_nonblocking(library.table, pointer) == 0 else { throw .notConnected(message) }
  }

  /// The words of libpq on the last failure, as one line.
  private var message: String {
    // libpq ends them with NUL, and they live until the next call.
    let text = unsafe String(cString: cpostgresql_error(library.table, pointer))
    // A hint stands behind a tab.
    let line = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
    return line.isEmpty ? "the connection was closed" : line
  }

  /// Waits until the connection can be read, or also written; false once the time is over.
  private func wait(forRoom wantsRoom: Bool, until deadline: Duration) -> Bool {
    while true {
      let left = deadline - BootClock.now
      guard left > .zero else { return false }
      var set = PollSet(count: 1)
      // As above.
      set.watch(0, unsafe cpostgresql_socket(library.table, pointer), readable: true, writable: wantsRoom)
      if let count = try? set.wait(atMost: left), count > 0 { return true }
    }
  }

  /// The process of the server by the first message of the connection: a pool makes one up.
  var process: Int {
    // The connection lives as long as this object, here and below.
    Int(unsafe cpostgresql_process(library.table, pointer))
  }

  /// Waits until something has come unasked, the bell rings, or an uptime comes.
  func waitForNotification(or bell: Int32? = nil, until deadline: Duration? = nil) {
    var set = PollSet(count: 2)
    // As above.
    set.watch(0, unsafe cpostgresql_socket(library.table, pointer), readable: true)
    if let bell { set.watch(1, bell, readable: true) }
    _ = try? set.wait(atMost: deadline.map { max($0 - BootClock.now, .zero) })
  }

  /// Takes in what has come unasked.
  ///
  /// - Throws: `PostgreSQLError.lost`.
  func consume() throws(PostgreSQLError) {
    // As above.
    guard unsafe cpostgresql_consume(library.table, pointer) == 1 else { throw .lost(message) }
  }

  /// Takes out the notifications that have come, each with its channel.
  func takeNotifications() -> [(channel: String, payload: String)] {
    var notifications: [(channel: String, payload: String)] = []
    // As above; null behind the last one.
    while let next = unsafe cpostgresql_notified(library.table, pointer) {
      // Both end with NUL, and live until they are freed, here.
      unsafe notifications.append((String(cString: next.pointee.channel), String(cString: next.pointee.payload)))
      // Given for this call alone.
      unsafe cpostgresql_forget(library.table, next)
    }
    return notifications
  }

  /// Carries out one statement.
  ///
  /// - Parameters:
  ///   - statement: one statement, with `$1` and so on for the parameters.
  ///   - parameters: the parameters.
  ///   - deadline: the uptime until which it may take; the connection is of no use once that is over.
  /// - Returns: the rows, each with the bytes of its columns in PostgreSQL's binary form; nil for NULL.
  /// - Throws: `PostgreSQLError.lost`, `.refused`.
  func run(
    _ statement: String, _ parameters: [Parameter], until deadline: Duration
  ) throws(PostgreSQLError) -> [[[UInt8]?]] {
    try send(statement, parameters)
    // As above.
    while case let left = unsafe cpostgresql_flush(library.table, pointer), left != 0 {
      guard left == 1 else { throw .lost(message) }
      try pause(forRoom: true, deadline)
    }
    var rows: Result<[[[UInt8]?]], PostgreSQLError>?
    while true {
      // As above.
      while unsafe cpostgresql_is_busy(library.table, pointer) == 1 { try pause(forRoom: false, deadline) }
      // As above; null behind the last result.
      guard let result = unsafe cpostgresql_result(library.table, pointer) else { break }
      // As above.
      rows = rows ?? Result { () throws(PostgreSQLError) in try unsafe read(result) }
      // The result was given for this call alone.
      unsafe cpostgresql_clear(library.table, result)
    }
    guard let rows else { throw .lost(message) }
    return try rows.get()
  }

  private func pause(forRoom wantsRoom: Bool, _ deadline: Duration) throws(PostgreSQLError) {
    guard wait(forRoom: wantsRoom, until: deadline) else { throw .lost("no answer of the database in time") }
    // As above.
    guard unsafe cpostgresql_consume(library.table, pointer) == 1 else { throw .lost(message) }
  }

  private func send(_ statement: String, _ parameters: [Parameter]) throws(PostgreSQLError) {
    var values = cpostgresql_values()
    for parameter in parameters {
      switch parameter {
      case .text(let text): Self.add(text, to: &values)
      case .bytes(let bytes):
        // The bytes live until the call returns, which copies them.
        _ = unsafe cpostgresql_add(&values, nil, Int32(CPOSTGRESQL_BYTEA), bytes, bytes.count)
      }
    }
    guard Int(values.count) == parameters.count else {
      // What was copied.
      unsafe cpostgresql_free(&values)
      throw .lost("out of memory")
    }
    // The connection lives as long as this object, and the statement is NUL-terminated for the call.
    let isSent = unsafe cpostgresql_send(library.table, pointer, statement, &values)
    guard isSent == 1 else { throw .lost(message) }
  }

  /// The rows of a result, or why there are none.
  @unsafe
  private func read(_ result: OpaquePointer) throws(PostgreSQLError) -> [[[UInt8]?]] {
    // The result lives until it is cleared, behind this call; here and below.
    let status = Int(unsafe cpostgresql_result_status(library.table, result))
    guard status == CPOSTGRESQL_TUPLES_OK || status == CPOSTGRESQL_COMMAND_OK else {
      // As above; the words end with NUL, and a field that is missing is null.
      let state = unsafe cpostgresql_field(library.table, result, Int32(CPOSTGRESQL_SQLSTATE))
        .map { unsafe String(cString: $0) }
      // As above.
      let words = unsafe cpostgresql_field(library.table, result, Int32(CPOSTGRESQL_MESSAGE))
        .map { unsafe String(cString: $0) }
      guard let state else { throw .lost(message) }
      throw .refused(state: state, words ?? "the statement was refused")
    }
    // As above.
    let (rows, columns) = unsafe (cpostgresql_rows(library.table, result), cpostgresql_columns(library.table, result))
    return (0..<rows).map { row in
      (0..<columns).map { column in
        var count = Int32(0)
        // As above.
        guard let start = unsafe cpostgresql_value(library.table, result, row, column, &count) else { return nil }
        // As above: so many bytes are there.
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
      }
    }
  }
}
