package import HTTP
package import JSON
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport

/// A server of the tests in a process of its own, and what a test may ask of it.
package final class TestServer: Sendable {
  /// The servers there are; each one's folder has its description.
  package enum Kind: String, Sendable {
    case rest = "RESTServer/rest-server"
    case oidc = "OIDCServer/oidc-server"
    case firebase = "FirebaseServer/firebase-server"
    case mail = "MailServer/mail-server"
  }

  /// Where the server listens.
  package let url: String
  /// Everything that it said of itself: `issuer`, `caFile`, `pin` and more, by name.
  package let places: [String: String]
  private let control: HTTPURL
  private let child: ChildProcess
  /// Closing it ends the process, which then removes its files.
  private let input: Mutex<FileDescriptor?>
  /// What the test talks to the control interface with.
  private let client: HTTPClient

  /// Starts a server; without Python there is none, and the test fails.
  private init(_ kind: Kind, _ arguments: [String]) throws {
    let started = try Self.start(kind, arguments)
    child = started.child
    let line = Self.firstLine(of: started.output)
    input = Mutex(try started.input.duplicate())
    guard let document = try? JSONDocument(parsing: line) else { throw TestServerFailure.notStarted }
    var places: [String: String] = [:]
    for (name, value) in try document.root.members() { places[name] = try? value.string() }
    self.places = places
    url = places["url"] ?? ""
    control = try HTTPURL(places["controlUrl"] ?? "")
    client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
  }

  private struct Started: ~Copyable {
    let child: ChildProcess
    let input: FileDescriptor
    let output: FileDescriptor
  }

  /// Only the child holds the other ends, so that its end is noticed here.
  private static func start(_ kind: Kind, _ arguments: [String]) throws -> Started {
    let folder = Repository.root + "/Tests/Servers"
    let commands = try FileDescriptor.pipe()
    let answers = try FileDescriptor.pipe()
    var plan = ChildProcess.Plan(
      path: "/usr/bin/env", arguments: ["python3", "\(folder)/\(kind.rawValue)"] + arguments,
      environment: [
        "PATH": Environment.current["PATH"] ?? "/usr/bin:/bin", "HOME": "/proc/nonexistent", "TMPDIR": Scratch.parent,
        "BUILD": Environment.current["BUILD"] ?? Repository.root + "/.build",
      ])
    plan.descriptors = [(commands.readEnd.number, 0), (answers.writeEnd.number, 1), (2, 2)]
    plan.newSession = true
    let child = try ChildProcess(plan)
    return Started(
      child: child, input: try commands.writeEnd.duplicate(), output: try answers.readEnd.duplicate())
  }

  private static func firstLine(of output: borrowing FileDescriptor) -> [UInt8] {
    var line: [UInt8] = []
    var byte: [UInt8] = [0]
    while case .bytes(1) = output.read(into: &byte), byte[0] != 0x0A { line.append(byte[0]) }
    return line
  }

  /// Runs a test with a server of its own, when there is room for it.
  package static func run(
    _ kind: Kind, _ arguments: [String] = [], _ body: (TestServer) async throws -> Void
  ) async throws {
    await Room.shared.enter()
    let result: Result<Void, any Error>
    do { result = .success(try await runHere(kind, arguments, body)) } catch { result = .failure(error) }
    await Room.shared.leave()
    try result.get()
  }

  private static func runHere(
    _ kind: Kind, _ arguments: [String], _ body: (TestServer) async throws -> Void
  ) async throws {
    // Until it listens, the global pool has better things to do.
    let server = try await OwnThread.run { try TestServer(kind, arguments) }
    let result: Result<Void, any Error>
    do { result = .success(try await body(server)) } catch { result = .failure(error) }
    await server.client.close()
    try await OwnThread.run { try server.end() }
    try result.get()
  }

  /// How long a server may take to remove its files before it is killed.
  private static let patience = Duration.seconds(30)

  /// Ends the process in order, and kills what has not ended then.
  private func end() throws {
    input.withLock { $0 = nil }
    let ended = try child.endDescriptor()
    var poll = PollSet(count: 1)
    poll.watch(0, ended.number, readable: true)
    let isInTime = try poll.wait(atMost: Self.patience) > 0
    child.killGroup()
    try child.wait()
    guard isInTime else { throw TestServerFailure.notEnded }
  }

  /// Asks the control interface.
  @discardableResult
  package func ask(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> JSONNode {
    let (target, query) = (path.prefix { $0 != "?" }, path.drop { $0 != "?" })
    let request = HTTPRequest(
      method, try HTTPURL(control.origin + target + query), body: try body.map { .json(try Secret(utf8: $0)) })
    let response = try await PublicTransport(client).send(request)
    let bytes = response.body.withArray { Array($0) }
    guard response.status == 200 else { throw TestServerFailure.refused(String(decoding: bytes, as: UTF8.self)) }
    return try JSONDocument(parsing: bytes, limits: JSONLimits(depth: 64, byteCount: 1 << 24)).root
  }
}

/// Why there is no server, no answer, or no end.
package enum TestServerFailure: Error {
  case notStarted
  case notEnded
  case refused(String)
}

/// Lets few servers run at a time, so that no test waits for a processor for long.
private actor Room {
  static let shared = Room()
  private var free = 6
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func enter() async {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
  }

  func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
