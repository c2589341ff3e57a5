import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import ClientSocket
@testable import StateDirectory

@Suite(.standardTimeLimit, .serialized) struct BrokerConnectorTests {
  let scratch = Scratch()

  func environment(_ more: [String: String] = [:]) -> [String: String] {
    Environment.current.merging(["AUTHBROKER_DAEMON": scratch.path + "/daemon"]) { $1 }.merging(more) { $1 }
  }

  func paths(_ configuration: String? = nil) throws -> StatePaths {
    try StatePaths(
      .init(state: scratch.path + "/state", configuration: configuration), environment: [:], workingDirectory: "/")
  }

  /// A connector that is patient but for what a test says.
  func connector(
    _ paths: StatePaths, starting: Bool = true, _ limit: (inout OwnerLauncher.Limits) -> Void = { _ in }
  ) -> BrokerConnector {
    var limits = OwnerLauncher.Limits()
    (limits.lock, limits.ready, limits.key) = (Patience.ceiling, Patience.ceiling, Patience.ceiling)
    limits.owned = Patience.ceiling
    limit(&limits)
    let variables = EnvironmentVariables(environment())
    let launcher = OwnerLauncher(environment: variables, limits: limits)
    return BrokerConnector(paths: paths, environment: variables, launcher: starting ? launcher : nil)
  }

  static func greeting(_ connection: consuming BrokerConnector.Connection) -> String {
    var buffer = [UInt8](repeating: 0, count: 100)
    guard case .bytes(let count) = connection.descriptor.read(into: &buffer) else { return "" }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  @Test func `an owner is started on demand, and found afterwards`() throws {
    _ = try FakeDaemon(in: scratch)
    let paths = try paths()
    defer { FakeDaemon.stop(paths.state) }
    let first = try connector(paths).connect()
    let wasStarted = first.wasStarted
    #expect(wasStarted)
    #expect(first.owner?.version == "fake")
    let pid = first.owner?.pid ?? 0
    #expect(getsid(pid) == pid)
    #expect(Self.greeting(first) == "hello \(pid)\n")
    let second = try connector(paths, starting: false).connect()
    let isNew = second.wasStarted
    #expect(!isNew)
    #expect(Self.greeting(second) == "hello \(pid)\n")
    #expect(try FileStatus.ofLink(paths.log).permissions == 0o600)
  }

  @Test func `a hundred clients at once start one owner`() throws {
    _ = try FakeDaemon(in: scratch)
    let paths = try paths()
    defer { FakeDaemon.stop(paths.state) }
    let connector = connector(paths)
    let results = Mutex<[String]>([])
    let started = Mutex(0)
    Threads.run(100) {
      do throws(ConnectError) {
        let connection = try connector.connect()
        if connection.wasStarted { started.withLock { $0 += 1 } }
        let greeting = BrokerConnectorTests.greeting(connection)
        results.withLock { $0.append(greeting) }
      } catch {
        results.withLock { $0.append(error.description) }
      }
    }
    let all = results.withLock { $0 }
    #expect(all.count == 100)
    #expect(Set(all).count == 1)
    #expect(all[0].hasPrefix("hello "))
    #expect(started.withLock { $0 } == 1)
    let starts = try FileDescriptor.open(paths.state + "/starts", .read).contents(limit: 1000)
    #expect(String(decoding: starts, as: UTF8.self) == "start\n")
  }

  @Test func `an owner that was killed is replaced`() throws {
    _ = try FakeDaemon(in: scratch)
    let paths = try paths()
    defer { FakeDaemon.stop(paths.state) }
    let first = try connector(paths).connect()
    let pid = first.owner?.pid ?? 0
    try Signal(number: SIGKILL).send(to: pid)
    // The end of the connection says that the process has gone.
    var buffer = [UInt8](repeating: 0, count: 100)
    while case .bytes = first.descriptor.read(into: &buffer) {}
    // Its descriptors are closed one after the other.
    #expect(Patience.wait { !FileLock.isHeld(paths.ownerLock) })
    #expect(unlink(paths.state + "/stop") == 0)
    #expect(throws: ConnectError.notRunning(socket: paths.socket, startable: true)) {
      _ = try connector(paths, starting: false).connect()
    }
    let second = try connector(paths).connect()
    let isNew = second.wasStarted
    #expect(isNew)
    #expect(second.owner?.pid != pid)
  }

  @Test func `a socket that the environment names never starts anything`() throws {
    _ = try FakeDaemon(in: scratch)
    let socket = scratch.path + "/none.sock"
    let environment = EnvironmentVariables(environment(["AUTHBROKER_SOCKET": socket]))
    let connector = BrokerConnector(
      paths: try paths(), environment: environment, launcher: OwnerLauncher(environment: environment))
    #expect(throws: ConnectError.notRunning(socket: socket, startable: false)) { _ = try connector.connect() }
    #expect(throws: Errno.noEntry) { try FileStatus.ofLink(scratch.path + "/state") }
  }

  @Test func `another configuration than the owner's is refused and both are named`() throws {
    _ = try FakeDaemon(in: scratch)
    let first = try paths("/one.json")
    defer { FakeDaemon.stop(first.state) }
    let connection = try connector(first).connect()
    let configuration = connection.owner?.configuration
    #expect(configuration == "/one.json")
    let error = ConnectError.otherConfiguration(owner: "/one.json", wanted: "/two.json")
    #expect(throws: error) { _ = try connector(try paths("/two.json")).connect() }
    #expect(error.description.contains("/one.json"))
    #expect(error.description.contains("/two.json"))
    // Who chose none takes the owner's.
    let wasStarted = try connector(try paths()).connect().wasStarted
    #expect(!wasStarted)
  }

  @Test func `the daemon's reason is the user's reason`() throws {
    _ = try FakeDaemon(
      in: scratch, body: "import os\nos.write(3, b'error configInvalid config.json:3: unknown \\x1b[2Jkey\\n')\n")
    #expect(throws: ConnectError.startRefused(code: "configInvalid", reason: "config.json:3: unknown ?[2Jkey")) {
      _ = try connector(try paths()).connect()
    }
  }

  @Test func `a daemon that dies is reported with the last line of its log`() throws {
    _ = try FakeDaemon(in: scratch, body: "import sys\nprint('first', file=sys.stderr)\nsys.exit('no vault today')\n")
    let paths = try paths()
    #expect(throws: ConnectError.startFailed(log: paths.log, lastLine: "no vault today")) {
      _ = try connector(paths).connect()
    }
  }

  @Test func `an owner that does not answer is named with its process`() throws {
    _ = try FakeDaemon(in: scratch, body: "import os\nos.write(3, b'error owned it is taken\\n')\n")
    let paths = try paths()
    _ = try PrivateDirectory(paths.state, create: true)
    let record = OwnerRecord(
      pid: 4321, version: "0", configuration: nil, socket: "/none.sock", startedAt: "2026-01-01T00:00:00Z")
    let lock = try FileDescriptor.open(paths.ownerLock, [.write, .create])
    try lock.writeAll(record.encoded().span)
    let connector = connector(paths) { limits in limits.owned = .milliseconds(1) }
    let error = ConnectError.ownerDoesNotAnswer(pid: 4321, state: paths.state, socket: "/none.sock")
    #expect(throws: error) { _ = try connector.connect() }
    #expect(error.description.contains("(pid 4321)") && error.description.hasSuffix("to its socket, or stop it"))
  }

  @Test func `a daemon that asks for time gets it`() throws {
    var wasStarted = false
    // On a machine that is too slow, the daemon does not come to ask within the first limits.
    for (attempt, ready) in Patience.timeouts(from: .seconds(1)).prefix(4).enumerated() where !wasStarted {
      let pause = "select.select([], [], [], \(ready.components.seconds) + 0.5)"
      let asking = "os.write(ready, b'wait 600\\n'); \(pause); os.makedirs"
      _ = try FakeDaemon(in: scratch, body: FakeDaemon.serving.replacing("os.makedirs", with: asking))
      let state = "\(scratch.path)/state-\(attempt)"
      let paths = try StatePaths(.init(state: state, configuration: nil), environment: [:], workingDirectory: "/")
      defer { FakeDaemon.stop(state) }
      wasStarted = (try? connector(paths) { limits in limits.ready = ready }.connect().wasStarted) ?? false
    }
    #expect(wasStarted)
  }

  @Test func `another client's start is waited for while an owner is coming up`() throws {
    let paths = try paths()
    _ = try PrivateDirectory(paths.state, create: true)
    let start = try FileLock(paths.startLock)
    func patience(_ key: Duration) -> Duration {
      let connector = connector(paths) { limits in
        (limits.lock, limits.ready, limits.key) = (.milliseconds(1), .zero, key)
      }
      let begin = BootClock.now
      #expect(throws: ConnectError.startIsStuck(lock: paths.startLock)) { _ = try connector.connect() }
      return BootClock.now - begin
    }
    // Without an owner that is coming up, nobody waits so long.
    #expect(patience(Patience.ceiling) < Patience.ceiling)
    let owner = try FileLock(paths.ownerLock)
    #expect(patience(.milliseconds(200)) >= .milliseconds(200))
    withExtendedLifetime((start.path, owner.path)) {}
  }

  @Test func `a log that cannot be written is named`() throws {
    _ = try FakeDaemon(in: scratch)
    let paths = try paths()
    _ = try PrivateDirectory(paths.state, create: true)
    #expect(mkdir(paths.log, 0o700) == 0)
    #expect(throws: ConnectError.log(path: paths.log, Errno(code: EISDIR))) { _ = try connector(paths).connect() }
  }

  @Test func `a missing daemon is named`() throws {
    #expect(throws: ConnectError.noDaemon(path: scratch.path + "/daemon", .noEntry)) {
      _ = try connector(try paths()).connect()
    }
  }

  @Test func `a state directory that others can read is refused`() throws {
    _ = try FakeDaemon(in: scratch)
    let paths = try paths()
    #expect(mkdir(paths.state, 0o755) == 0)
    #expect(throws: ConnectError.stateDirectory(.openToOthers(paths.state, permissions: 0o755))) {
      _ = try connector(paths).connect()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `a server of another user gets no byte`() throws {
    let serve = """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777)
      os.setuid(12345)
      s.listen(5)
      os.write(1, b"x")
      for _ in range(4):
        c, _ = s.accept()
        os.write(1, c.recv(10) + b"|")
      """
    try scratch.write("", to: "said")
    let output = try FileDescriptor.open(scratch.file("said"), [.write, .append])
    let socket = scratch.path + "/foreign.sock"
    var plan = ChildProcess.Plan(
      path: "/usr/bin/env", arguments: ["python3", "-c", serve, socket], environment: environment())
    plan.descriptors = [(output.number, 1)]
    plan.newSession = true
    let child = try ChildProcess(plan)
    defer {
      // One that goes on listening would never end.
      child.killGroup()
      _ = try? child.wait()
    }
    func awaitWords(_ words: String) throws {
      #expect(try Patience.wait { try scratch.bytes(of: "said") == Array(words.utf8) })
    }
    try awaitWords("x")
    let connector = BrokerConnector(
      paths: try paths(), environment: ["AUTHBROKER_SOCKET": socket], launcher: nil)
    let refusal = ConnectError.foreignPeer(socket: socket, uid: 12345)
    // Once to see whose it is, once more to say so.
    if #expect(throws: refusal, performing: { _ = try connector.connect() }) != nil { try awaitWords("x||") }
    func connect(_ user: String) throws {
      let variables: EnvironmentVariables = ["AUTHBROKER_SOCKET": socket, "AUTHBROKER_SERVER_UID": user]
      let connection = try BrokerConnector(paths: try paths(), environment: variables, launcher: nil).connect()
      try connection.descriptor.writeAll(Array("hi".utf8).span)
    }
    try connect("12345")
    try awaitWords("x||hi|")
    #expect(throws: ConnectError.unknownServerUser("no one")) { try connect("no one") }
    try connect("any")
    try awaitWords("x||hi|hi|")
  }

  @Test func `a broker of root's is trusted, unless another user is named`() throws {
    let own = ProcessIdentity.user
    for (text, trusted, others) in [
      ("", [own, 0], [own + 1]), ("root", [0], [4711]), ("4711", [4711], [0, 4712]), ("any", [0, own, 4711], []),
    ] {
      let user = try ServerUser(named: text)
      #expect(trusted.allSatisfy(user.isTrusted) && !others.contains(where: user.isTrusted), "\(text)")
    }
    for text in ["no one", "-1", "4294967296", "any "] {
      #expect(throws: ConnectError.unknownServerUser(text)) { try ServerUser(named: text) }
    }
  }
}
