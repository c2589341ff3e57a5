import JSON
import JSONRPC
import LinuxSystem
import TestSupport

/// One connection to a broker, whatever carries it.
protocol Wire: AnyObject {
  /// Sends one message, framed.
  func send(_ message: [UInt8]) throws
  /// The next message; nil at the end.
  func next() throws -> [UInt8]?
  /// Ends the sending direction.
  func finishSending() throws
  /// Whether the client proves itself where that is asked for.
  var provesItself: Bool { get }
  /// The process that holds the connection, by which a proof is named.
  var process: Int32 { get }
}

extension Wire {
  /// One that carries messages and nothing more.
  var provesItself: Bool { false }

  /// This process, unless a relay holds the connection.
  var process: Int32 { ProcessIdentity.pid }

  /// Sends a message and reads the next one.
  func ask(_ message: String) throws -> JSONNode {
    try send(Array(message.utf8))
    return try nextNode()
  }

  /// The next message.
  func nextNode() throws -> JSONNode {
    guard let message = try next() else { throw TestFailure("the connection ended before the answer") }
    return try JSONDocument(parsing: message).root
  }

  /// Calls a method and gives the answer, after a proof of access to the state directory where that is asked for.
  func answer(_ method: String, _ params: String) throws -> JSONNode {
    let message = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    let answer = try ask(message)
    guard let proof = ProofGiving.wanted(by: String(decoding: answer.text, as: UTF8.self)) else { return answer }
    try ProofGiving.give(proof, by: process)
    _ = try ask(ProofGiving.request)
    return try ask(message)
  }

  /// Makes the connection administrative; does nothing where it is already.
  func prove() throws {
    let answer = try ask(ProofGiving.request)
    guard let proof = ProofGiving.wanted(by: String(decoding: answer.text, as: UTF8.self)) else { return }
    try ProofGiving.give(proof, by: process)
    guard try ask(ProofGiving.request)["result"] != nil else { throw TestFailure("the proof was not taken") }
  }

  /// Calls a method and gives its result.
  ///
  /// - Throws: ``TestFailure`` that carries an error answer.
  func call(_ method: String, _ params: String = "{}") throws -> JSONNode {
    let answer = try answer(method, params)
    guard let result = answer["result"] else {
      throw TestFailure("\(method): \(String(decoding: answer.text, as: UTF8.self))")
    }
    return result
  }

  /// The kind of the error that a method answers with; nil if it gives a result.
  func refusal(_ method: String, _ params: String = "{}") throws -> String? {
    let answer = try answer(method, params)
    return try answer["error"]?["data"]?["kind"]?.string()
  }

  /// Makes an account without a phone number: one call, and there is a session.
  func register(_ password: String = "example password 1") throws {
    let result = try call("register", #"{"email":"ada@example.com","password":"\#(password)"}"#)
    guard try result["status"]?.string() == "authenticated" else { throw TestFailure("register gave no session") }
  }

  /// The current access token.
  func accessToken() throws -> String {
    try call("getAccessToken").required("accessToken").string()
  }

  /// Reads to the end of the connection; what came meanwhile.
  func readToEnd() throws -> [String] {
    var messages: [String] = []
    while let message = try next() { messages.append(String(decoding: message, as: UTF8.self)) }
    return messages
  }
}

/// A connection on a Unix socket.
final class SocketWire: Wire {
  private let descriptor: FileDescriptor
  private let frames: FrameInlet
  private let framing: Framing

  init(_ path: String, _ framing: Framing = .lines) throws {
    descriptor = try UnixSocket.connect(to: path)
    frames = FrameInlet(ByteInlet(try descriptor.duplicate()), framing)
    self.framing = framing
  }

  func send(_ message: [UInt8]) throws {
    var bytes: [UInt8] = []
    framing.append(message.span, to: &bytes)
    try sendRaw(bytes)
  }

  /// Sends bytes as they are.
  func sendRaw(_ bytes: [UInt8]) throws { try descriptor.sendAll(bytes.span) }

  func next() throws -> [UInt8]? { try frames.next() }

  /// Whether something has come that was not read yet.
  func hasMore() throws -> Bool {
    var poll = PollSet(count: 1)
    poll.watch(0, descriptor.number, readable: true)
    return try poll.wait(atMost: .zero) > 0
  }

  func finishSending() throws { try descriptor.finishSending() }
}

/// The standard input and output of a program.
final class ProgramWire: Wire {
  private let program: Program
  private let frames: FrameInlet
  private let framing: Framing

  init(_ program: Program, _ framing: Framing = .lines) {
    self.program = program
    self.framing = framing
    frames = FrameInlet(program.output, framing)
  }

  func send(_ message: [UInt8]) throws {
    var bytes: [UInt8] = []
    framing.append(message.span, to: &bytes)
    try program.write(bytes)
  }

  func next() throws -> [UInt8]? { try frames.next() }

  /// The next message, which comes in a given time.
  func next(within limit: Duration) throws -> [UInt8]? { try frames.next(within: limit) }

  func finishSending() { program.closeInput() }

  var process: Int32 { program.pid }
}
