import Glibc
package import LinuxSystem
import Synchronization

/// A PostgreSQL server of one test, on a socket in a directory of its own; gone at the end.
///
/// As root it runs as the user `nobody`, since it refuses to be root's.
package final class DatabaseCluster: Sendable {
  /// The directory with PostgreSQL's programs; nil where Debian's package postgresql is not installed.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = ((try? TemporaryDirectory.names(in: root)) ?? []).compactMap(Int.init).sorted()
    guard let version = versions.last else { return nil }
    let path = "\(root)/\(version)/bin"
    return access(path + "/initdb", X_OK) == 0 ? path : nil
  }()

  /// Why no test is run without.
  package static let absence = "PostgreSQL is not installed (package postgresql)"

  private static let role = "authbroker"
  private static let nobody: UInt32 = 65534

  private let directory: String
  private let server = Mutex<ChildProcess?>(nil)
  private let pool = Mutex<ChildProcess?>(nil)

  /// The connection string of its only role, which may do everything.
  package var connection: String { "host=\(directory) dbname=postgres user=\(Self.role)" }

  /// Makes a database and starts its server.
  package init() throws {
    var template = Array((Scratch.parent + "/abpg-XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap(mkdtemp).map { String(cString: $0) } }
    guard let made else { throw Failure("no temporary directory") }
    directory = made
    if geteuid() == 0 { chown(made, Self.nobody, Self.nobody) }
    let options = ["-U", Self.role, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"]
    try run("initdb", ["-D", directory + "/data"] + options).succeed()
    try start()
  }

  /// A failure of a program of PostgreSQL.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    fileprivate init(_ description: String) { self.description = description }
  }

  /// Starts the server, and waits until it takes connections.
  package func start() throws {
    // The processes of one that was killed may be there for a moment, and keep the next from starting.
    let isReady = try Patience.wait {
      let child = try run(
        "postgres",
        ["-D", directory + "/data", "-k", directory, "-c", "listen_addresses=", "-c", "max_connections=120"])
      server.withLock { $0 = child }
      while true {
        if try run("pg_isready", ["-q", "-h", directory]).wait() == 0 { return true }
        if try child.hasEnded() { return false }
      }
    }
    guard isReady else { throw Failure("the server does not start: \(directory)/log") }
  }

  /// The program that pools connections; nil where Debian's package pgbouncer is not installed.
  package static let pooler: String? = access("/usr/sbin/pgbouncer", X_OK) == 0 ? "/usr/sbin/pgbouncer" : nil

  /// How a pool gives its connections to clients.
  package enum PoolMode: String, Sendable { case session, transaction }

  /// Starts a pool before the server, and waits until it takes connections.
  ///
  /// - Returns: the connection string to the pool, of a role that may read and write the table of a fleet, and owns nothing.
  package func startPool(_ mode: PoolMode, table: String) throws -> String {
    try ask("CREATE ROLE member LOGIN; GRANT SELECT, INSERT, UPDATE ON \(table) TO member")
    let lines = [
      "[databases]", "postgres = host=\(directory) dbname=postgres user=member", "[pgbouncer]", "listen_addr =",
      "unix_socket_dir = \(directory)", "listen_port = 6432", "auth_type = any", "pool_mode = \(mode.rawValue)",
      "max_client_conn = 200", "default_pool_size = 5", "logfile = \(directory)/pool.log", "",
    ]
    let path = directory + "/pool.ini"
    try FileDescriptor.open(path, [.write, .create, .truncate]).writeAll(Array(lines.joined(separator: "\n").utf8).span)
    if geteuid() == 0 { chown(path, Self.nobody, Self.nobody) }
    let child = try run("pgbouncer", [path], at: Self.pooler)
    pool.withLock { $0 = child }
    let isReady = try Patience.wait { try run("pg_isready", ["-q", "-h", directory, "-p", "6432"]).wait() == 0 }
    guard isReady else { throw Failure("the pool does not start: \(directory)/pool.log") }
    return "host=\(directory) port=6432 dbname=postgres user=member"
  }

  /// Sends a signal to the server; one that it kills has ended.
  package func signal(_ signal: Signal) throws {
    try server.withLock { server in
      guard let child = server else { return }
      try signal.send(to: child.pid)
      guard signal == .kill else { return }
      _ = try child.wait()
      server = nil
    }
  }

  /// Carries out a statement, and gives what psql prints.
  @discardableResult
  package func ask(_ statement: String) throws -> String {
    let path = directory + "/answer"
    let file = try FileDescriptor.open(path, [.write, .create, .truncate])
    let options = ["-h", directory, "-U", Self.role, "-d", "postgres", "-qAtc", statement]
    try run("psql", options, output: file.number).succeed()
    return String(decoding: try FileDescriptor.open(path, .read).contents(limit: 1 << 20), as: UTF8.self)
  }

  private func run(
    _ program: String, _ arguments: [String], at path: String? = nil, output: Int32? = nil
  ) throws -> ChildProcess {
    guard let programs = Self.programs else { throw Failure(Self.absence) }
    let log = try FileDescriptor.open(directory + "/log", [.write, .create, .append])
    var words = [path ?? "\(programs)/\(program)"] + arguments
    if geteuid() == 0 {
      words = ["/usr/bin/setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups"] + words
    }
    var plan = ChildProcess.Plan(
      path: words[0], arguments: Array(words.dropFirst()), environment: ["PATH": "/usr/bin:/bin", "LANG": "C"])
    plan.descriptors = [(output ?? log.number, 1), (log.number, 2)]
    plan.newSession = true
    plan.workingDirectory = directory
    return try ChildProcess(plan)
  }

  /// Ends the server and removes its files.
  package func end() {
    pool.withLock { pool in
      if let pool {
        try? Signal.kill.send(to: pool.pid)
        _ = try? pool.wait()
      }
      pool = nil
    }
    try? signal(.kill)
    _ = try? ChildProcess(.init(path: "/bin/rm", arguments: ["-rf", directory], environment: [:])).wait()
  }

  deinit { end() }
}

extension ChildProcess {
  /// Waits for the end of a program that must succeed.
  fileprivate func succeed() throws {
    let code = try wait()
    if code != 0 { throw DatabaseCluster.Failure("a program of PostgreSQL has ended with \(code)") }
  }

  /// Whether it has ended.
  fileprivate func hasEnded() throws -> Bool {
    let ended = try endDescriptor()
    var poll = PollSet(count: 1)
    poll.watch(0, ended.number, readable: true)
    return try poll.wait(atMost: .milliseconds(10)) > 0
  }
}
