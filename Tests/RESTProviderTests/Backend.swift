import BrokerCore
import BrokerProtocol
import HTTP
import JSONRPC
import LinuxSystem
import RESTDialect
import SecretMemory

@testable import RESTProvider

/// The backend of `Tests/RESTServer` in a process of its own, and what a test may ask of it.
final class Backend: Sendable {
  /// Where the backend listens.
  let url: HTTPURL
  /// The authority of its certificate and its pins; empty without TLS.
  let caFile: String
  let pins: [String]
  private let control: HTTPURL
  private let child: ChildProcess
  /// Closing it ends the process.
  private let input: FileDescriptor
  /// What the test talks to the control interface with.
  private let client: HTTPClient

  /// Starts a backend; without Python there is none, and the test fails.
  private init(_ arguments: [String]) throws {
    let started = try Self.start(arguments)
    child = started.child
    let line = Self.firstLine(of: started.output)
    input = try started.input.duplicate()
    guard let document = try? JSONDocument(parsing: line) else { throw BackendFailure.notStarted }
    url = try HTTPURL(try document.root.required("url").string())
    control = try HTTPURL(try document.root.required("controlUrl").string())
    caFile = try document.root.optional("caFile", String.init(from:)) ?? ""
    pins = try ["pin", "backupPin"].compactMap { try document.root.optional($0, String.init(from:)) }
    client = try HTTPClient(version: "test", proxy: .none)
  }

  private struct Started: ~Copyable {
    let child: ChildProcess
    let input: FileDescriptor
    let output: FileDescriptor
  }

  /// Only the child holds the other ends, so that its end is noticed here.
  private static func start(_ arguments: [String]) throws -> Started {
    let folder = String(#filePath.dropLast("/RESTProviderTests/Backend.swift".count))
    let commands = try FileDescriptor.pipe()
    let answers = try FileDescriptor.pipe()
    var plan = ChildProcess.Plan(
      path: "/usr/bin/env", arguments: ["python3", folder + "/RESTServer/rest-server"] + arguments,
      environment: ["PATH": Environment.current["PATH"] ?? "/usr/bin:/bin", "HOME": "/nonexistent"])
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

  /// Runs a test with a backend of its own, when there is room for it.
  static func run(_ arguments: [String] = [], _ body: (Backend) async throws -> Void) async throws {
    await Room.shared.enter()
    let result: Result<Void, any Error>
    do { result = .success(try await runHere(arguments, body)) } catch { result = .failure(error) }
    await Room.shared.leave()
    try result.get()
  }

  private static func runHere(_ arguments: [String], _ body: (Backend) async throws -> Void) async throws {
    let backend = try Backend(arguments)
    let result: Result<Void, any Error>
    do { result = .success(try await body(backend)) } catch { result = .failure(error) }
    await backend.client.close()
    backend.child.killGroup()
    try backend.child.wait()
    try result.get()
  }

  /// Asks the control interface.
  @discardableResult
  func ask(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> JSONNode {
    let request = HTTPRequest(
      method, try control.appending(path: path), body: try body.map { .json(try Secret(utf8: $0)) })
    let response = try await PublicTransport(client).send(request)
    let bytes = response.body.withArray { Array($0) }
    guard response.status == 200 else { throw BackendFailure.refused(String(decoding: bytes, as: UTF8.self)) }
    return try JSONDocument(parsing: bytes, limits: JSONLimits(depth: 64, byteCount: 1 << 24)).root
  }

  /// Adds an account.
  func add(_ account: String) async throws { try await ask(.post, "/accounts", account) }

  /// Plans a misbehaviour of the next request to an endpoint.
  func misbehave(_ name: String, at endpoint: String, _ more: String = "") async throws {
    try await ask(.post, "/misbehave", #"{"replace":true,"endpoint":"\#(endpoint)","name":"\#(name)"\#(more)}"#)
  }

  /// The code that was sent last.
  func code() async throws -> Secret { try Secret(utf8: try await ask(.get, "/codes").required("code").string()) }

  /// The token of the mail that was sent last.
  func mailToken() async throws -> Secret { try Secret(utf8: try await ask(.get, "/mails").required("token").string()) }

  /// The entries of the ledger of one kind.
  func ledger(_ event: String) async throws -> [JSONNode] {
    try await ask(.get, "/ledger?event=\(event)").required("entries").elements()
  }
}

/// Why there is no backend, or no answer.
enum BackendFailure: Error {
  case notStarted
  case refused(String)
}

/// Lets few backends run at a time, so that no test waits for a processor for long.
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
