import Glibc
import JSON
import LinuxSystem
import StateDirectory
import Synchronization
import TestSupport

/// The owner of a state directory, played by a thread of the test: lock, record, socket, and answers to order.
///
/// When the value ends, the thread has ended too, and the lock is free.
final class FakeOwner: Sendable {
  /// What it answers to a method: the member `result` or `error` of the response, as text.
  typealias Answer = @Sendable (_ method: String, _ params: JSONNode?) -> String

  /// A connection, and what came on it and is no whole line yet.
  private final class Guest {
    let descriptor: FileDescriptor
    var received: [UInt8] = []

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
  }

  /// Everything that its thread has.
  private final class Service: Sendable {
    let lock: FileLock
    let listener: FileDescriptor
    let bell: EventCounter
    let answer: Answer
    let requests = Mutex<[String]>([])
    let proofs = Mutex<[Bool]>([])
    let state: String
    let acceptsProofs: Bool
    let guests = Mutex(0)

    init(_ paths: StatePaths, acceptsProofs: Bool, _ answer: @escaping Answer) throws {
      // A program that another test starts has all descriptors for the moment before it executes: the last owner's too.
      lock = try FileLock(paths.ownerLock, waitingAtMost: Patience.ceiling)
      listener = try UnixSocket.listen(at: paths.socket, holding: lock).descriptor.duplicate()
      bell = try EventCounter()
      self.answer = answer
      state = paths.state
      self.acceptsProofs = acceptsProofs
    }

    /// Serves all guests at once, as an owner does: a command may hold one connection and ask on a second.
    func run() {
      var present: [Guest] = []
      while true {
        var poll = PollSet(count: 2 + present.count)
        poll.watch(0, listener.number, readable: true)
        poll.watch(1, bell.descriptor.number, readable: true)
        for (index, guest) in present.enumerated() { poll.watch(2 + index, guest.descriptor.number, readable: true) }
        guard (try? poll.wait()) != nil, !poll.isReady(1) else { return }
        present = present.enumerated().filter { !poll.isReady(2 + $0.offset) || hear($0.element) }.map(\.element)
        guard poll.isReady(0), let guest = try? UnixSocket.accept(from: listener) else { continue }
        guests.withLock { $0 += 1 }
        present.append(Guest(guest))
      }
    }

    /// Answers what a guest has sent by now; false when it has gone.
    private func hear(_ guest: Guest) -> Bool {
      var chunk = [UInt8](repeating: 0, count: 65536)
      guard case .bytes(let count) = guest.descriptor.read(into: &chunk) else { return false }
      guest.received += chunk[..<count]
      while let end = guest.received.firstIndex(of: UInt8(ascii: "\n")) {
        reply(to: Array(guest.received[..<end]), on: guest.descriptor)
        guest.received.removeFirst(end + 1)
      }
      return true
    }

    private func reply(to line: [UInt8], on guest: borrowing FileDescriptor) {
      guard let root = try? JSONDocument(parsing: line).root, let method = try? root["method"]?.string() else { return }
      let params = root["params"]
      let text = params.map { String(decoding: Array($0.text), as: UTF8.self) } ?? ""
      if method == "prove" {
        let name = (try? params?["name"]?.string()) ?? "-"
        let isGiven = (try? FileStatus.ofLink("\(state)/\(name).\(PeerCredentials(of: guest).pid)")) != nil
        proofs.withLock { $0.append(isGiven) }
      } else {
        requests.withLock { $0.append("\(method) \(text)") }
      }
      let id = root["id"].map { String(decoding: Array($0.text), as: UTF8.self) } ?? "null"
      let isProof = method == "prove" && acceptsProofs
      let outcome = isProof ? #""result":{}"# : answer(method, params)
      let bytes = Array(#"{"jsonrpc":"2.0","id":\#(id),\#(outcome)}"#.utf8) + [UInt8(ascii: "\n")]
      try? guest.sendAll(bytes.span)
    }
  }

  private let service: Service
  private let thread: pthread_t

  /// What it was asked: `method params`, in order; that a proof was offered to it is none of it.
  var requests: [String] { service.requests.withLock { $0 } }

  /// The proofs that were offered to it: whether the file was there that each one named.
  var proofs: [Bool] { service.proofs.withLock { $0 } }

  /// How many connections it has had.
  var guests: Int { service.guests.withLock { $0 } }

  /// Owns the directory `state` of a scratch directory until the value ends; `providers` is what it says of those, and
  /// `configuration` the file that it claims to use; `acceptsProofs`: proofs are not left to `answer`.
  init(
    in scratch: Scratch, providers: String = #""result":{"providers":[]}"#, configuration: String? = nil,
    acceptsProofs: Bool = true, answer: @escaping Answer
  ) throws {
    let paths = try FakeOwner.paths(scratch)
    _ = try PrivateDirectory(paths.state, create: true)
    let service = try Service(paths, acceptsProofs: acceptsProofs) { method, params in
      method == "checkProviders" ? providers : answer(method, params)
    }
    try service.lock.replaceContents(
      with: Self.record(paths, configuration, startedAt: "2026-01-01T00:00:00Z"))
    self.service = service
    thread = Threads.start { service.run() }
  }

  deinit {
    service.bell.raise()
    Threads.join(thread)
  }

  private static func record(_ paths: StatePaths, _ configuration: String?, startedAt: String) -> [UInt8] {
    OwnerRecord(
      pid: ProcessIdentity.pid, version: ProgramVersion.current, configuration: configuration, socket: paths.socket,
      startedAt: startedAt
    ).encoded()
  }

  /// What an owner of that directory that was started then says of itself in its lock.
  static func record(in scratch: Scratch, startedAt: String) throws -> String {
    String(decoding: record(try paths(scratch), nil, startedAt: startedAt), as: UTF8.self)
  }

  /// The paths of that directory.
  static func paths(_ scratch: Scratch) throws -> StatePaths {
    try StatePaths(.init(state: scratch.file("state")), environment: [:], workingDirectory: "/")
  }

  /// The answer to `getStatus` of a vault.
  static func status(
    locked: Bool = false, source: String = "file", isInitialized: Bool = true, version: String = ProgramVersion.current,
    profiles: String = ""
  ) -> String {
    let vault =
      #"{"locked":\#(locked),"keySource":"\#(source)","schemaVersion":1,"initialized":\#(isInitialized),"#
      + #""noticesRollback":true}"#
    return #""result":{"version":"\#(version)","pid":7,"startedAt":"2026-01-01T00:00:00Z","uptimeSeconds":61,"vault":"#
      + vault + #","connections":1,"subscriptions":0,"counters":{},"profiles":[\#(profiles)]}"#
  }

  /// An error of a kind.
  static func refusal(_ code: Int, _ kind: String, _ message: String, pointer: String = "") -> String {
    let place = pointer.isEmpty ? "" : #","pointer":"\#(pointer)""#
    return #""error":{"code":\#(code),"message":"\#(message)","data":{"kind":"\#(kind)","nextAction":"none","#
      + #""retryable":false\#(place)}}"#
  }
}
