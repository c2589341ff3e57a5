import Glibc
import JSON
import JSONRPC
import LinuxSystem
import TestSupport

/// A client that drives one broker through its lives, and kills it at any moment.
final class CrashClient {
  static let password = "Vn5-crash-MARK-password-19c7e2a4-bXwRt"

  private(set) var ledger = CrashLedger()
  private(set) var kills = 0
  /// Everything that may be in no file of the broker's own.
  private(set) var marks = [MemoryMark("password", Array(password.utf8))]
  private let sandbox: Sandbox
  /// More logins than an account usually has codes for.
  private let options: [String]
  private var random: SeededGenerator
  private var wire: CrashWire?
  private var requests = 0
  private var tokens: Set<String> = []

  init(_ sandbox: Sandbox, seed: UInt64) throws {
    self.sandbox = sandbox
    options = try sandbox.configure("{ local: { maxMessagesPerHour: 1000, maxMessagesPerDay: 10000 } }")
    random = SeededGenerator(seed: seed)
  }

  /// Makes the account that all lives log in to.
  func prepare() throws {
    let owner = try sandbox.owner(options)
    let account = #"{"email":"ada@example.com","password":"\#(Self.password)","phoneNumber":"+15550100042"}"#
    let wire = try SocketWire(sandbox.socket)
    let flow = try wire.call("register", account).required("challenge").required("otpFlowId").string()
    // Its first code proves the number, so that every login asks for one.
    let code = try Outbox.newestCode(in: sandbox.outbox)
    _ = try wire.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
    _ = try wire.call("logout")
    try owner.send(.terminate)
    _ = try owner.wait()
  }

  /// One life: start, look, do this and that, and be killed.
  func live() throws {
    if random.next() % 8 == 0 { try dieYoung() }
    let owner = try sandbox.owner(options)
    let wire = try CrashWire(sandbox.socket)
    self.wire = wire
    try look(wire)
    // The kill comes up to 50 ms after a request is sent, mostly sooner: most requests take a few milliseconds.
    let chosen = Int(random.next() % 4)
    let fraction = Double(random.next() % 1000) / 1000
    let delay = Duration.microseconds(Int64(50_000 * fraction * fraction * fraction))
    var deadline = Patience.end
    for step in 0..<30 {
      if step == chosen { deadline = BootClock.now + delay }
      guard try act(wire, until: deadline) else { break }
    }
    sandbox.bury(owner)
    kills += 1
    while let message = try wire.hear(until: Patience.end) { try take(message) }
    ledger.endOfLife()
    self.wire = nil
  }

  /// Kills a broker while it starts.
  private func dieYoung() throws {
    let program = try sandbox.start(BuiltPrograms.daemon, ["--state", sandbox.state] + options, input: .nothing)
    usleep(UInt32(random.next() % 50_000))
    sandbox.bury(program)
    kills += 1
  }

  /// What a new broker says of the session.
  private func look(_ wire: CrashWire) throws {
    let patience = Patience.end
    let subscription = try answer(to: "subscribe", "{}", wire, until: patience)
    ledger.hear(sequence: try subscription?["result"]?.required("sequence").integer() ?? -1)
    guard let session = try answer(to: "getSession", "{}", wire, until: patience)?["result"] else {
      return ledger.complain("no session is told of")
    }
    switch try session.required("state").string() {
    case "signedOut": ledger.find(.signedOut)
    // A login waits for its code, whether the session before was ended by hand or by itself.
    case "challengePending": ledger.find(ledger.possible.contains(.ended) ? .ended : .signedOut)
    case "expired": ledger.find(.ended)
    default:
      let token = try answer(to: "getAccessToken", "{}", wire, until: patience)
      guard let name = try token?["result"]?["tokenId"]?.string() else {
        ledger.find(.ended)
        return
      }
      note(token)
      ledger.find(.living(name))
    }
  }

  // MARK: Requests

  /// Does something; false when the time to die has come.
  private func act(_ wire: CrashWire, until deadline: Duration) throws -> Bool {
    guard ledger.isLiving else { return try logIn(wire, until: deadline) }
    switch random.next() % 20 {
    case 0..<13: return try tell(.refresh, "getAccessToken", #"{"forceRefresh":true}"#, wire, until: deadline)
    case 13..<16: return try tell(.token, "getAccessToken", "{}", wire, until: deadline)
    case 16..<18: return try tell(.logout, "logout", "{}", wire, until: deadline)
    default: return try logIn(wire, until: deadline)
    }
  }

  private func logIn(_ wire: CrashWire, until deadline: Duration) throws -> Bool {
    let account = #"{"email":"ada@example.com","password":"\#(Self.password)"}"#
    ledger.ask(.password)
    // Deriving the key of a password takes longer than a life may: the clock begins behind it.
    let began = BootClock.now
    guard let challenge = try answer(to: "login", account, wire, until: began + Patience.ceiling) else {
      return false
    }
    try ledger.hear(answer: challenge)
    guard let flow = try challenge["result"]?["challenge"]?["otpFlowId"]?.string() else { return true }
    let code = try Outbox.newestCode(in: sandbox.outbox)
    let later = deadline + (BootClock.now - began)
    let params = #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#
    return try tell(.code, "verifyOtp", params, wire, until: later)
      && tell(.token, "getAccessToken", "{}", wire, until: later)
  }

  private func tell(
    _ request: CrashLedger.Request, _ method: String, _ params: String, _ wire: CrashWire, until deadline: Duration
  ) throws -> Bool {
    ledger.ask(request)
    guard let answer = try answer(to: method, params, wire, until: deadline) else { return false }
    note(answer)
    try ledger.hear(answer: answer)
    return true
  }

  /// The answer to a request, events taken in on the way; nil when the deadline has passed.
  private func answer(
    to method: String, _ params: String, _ wire: CrashWire, until deadline: Duration
  ) throws -> JSONNode? {
    requests += 1
    try wire.send(#"{"jsonrpc":"2.0","id":\#(requests),"method":"\#(method)","params":\#(params)}"#)
    while let message = try wire.hear(until: deadline) {
      guard message["id"] == nil else { return message }
      try take(message)
    }
    if wire.hasEnded { ledger.complain("the broker ended by itself") }
    return nil
  }

  private func take(_ message: JSONNode) throws {
    if message["id"] == nil {
      try ledger.hear(event: message)
    } else {
      note(message)
      try ledger.hear(answer: message)
    }
  }

  private func note(_ answer: JSONNode?) {
    guard let token = try? answer?["result"]?["accessToken"]?.string(), tokens.insert(token).inserted else { return }
    let bytes = Array(token.utf8)
    marks.append(MemoryMark("access token", bytes.suffix(86)))
    marks.append(MemoryMark("access token, base64", MemoryText.base64URL(bytes).suffix(100)))
  }

  // MARK: Files

  /// Which marks are in the broker's own files: the embedded provider's folder plays the remote.
  func leaks() throws -> [String] {
    let search = MemorySearch(marks)
    let own = Directory.files(below: sandbox.state).filter { !$0.hasPrefix(sandbox.state + "/local-provider/") }
    return try own.flatMap { path in
      search.pieces(in: try Directory.bytes(of: path)).map { "\(marks[$0.mark].name) in \(path)" }
    }
  }
}

/// A connection that is heard until a moment.
final class CrashWire {
  private let descriptor: FileDescriptor
  private let frames: FrameInlet
  /// Whether the broker has closed it.
  private(set) var hasEnded = false

  init(_ path: String) throws {
    descriptor = try UnixSocket.connect(to: path)
    frames = FrameInlet(ByteInlet(try descriptor.duplicate()), .lines)
  }

  func send(_ message: String) throws { try descriptor.sendAll(Array((message + "\n").utf8).span) }

  /// The next message; nil when the moment has come, or nothing more will.
  func hear(until deadline: Duration) throws -> JSONNode? {
    do {
      guard let message = try frames.next(within: deadline - BootClock.now) else {
        hasEnded = true
        return nil
      }
      return try JSONDocument(parsing: message).root
    } catch let failure as TestFailure {
      guard BootClock.now >= deadline else { throw failure }
      return nil
    }
  }
}
