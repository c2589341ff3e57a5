import LinuxSystem
import SecretMemory
import StateDirectory

/// An exchange that is made once for all processes that want the same at about the same time.
///
/// The first one holds a lock, asks, and gives its answer to the others over a socket, and for a moment longer to those
/// that are only just starting. The answer is in no file, and only in the memory of processes that had a token for it.
struct SharedExchange {
  /// For how long keys are given to others: twenty commands that are started together take so long to begin.
  static let linger = Duration.seconds(3)
  /// How long another one's exchange is waited for.
  static let patience = AWSRole.patience + .seconds(2)
  /// Another user's process, or a mistaken one, must not keep the others waiting.
  private static let politeness = Duration.seconds(1)
  private static let longest = 2 * CurlPost.longest

  private let path: String
  /// What tells those apart that may have the answer, always of the same length.
  let mark: [UInt8]
  private let linger: Duration

  /// An exchange with a purpose; nil where processes cannot find each other: each asks by itself then.
  ///
  /// - Parameters:
  ///   - purpose: all that is asked for, in words.
  ///   - token: what is exchanged: the answer is only for who has the same.
  ///   - paths: the files of the state directory.
  ///   - linger: for how long keys are given to others.
  init?(_ purpose: String, _ token: Secret, in paths: StatePaths, linger: Duration = Self.linger) {
    let place = paths.helpers + "/exchanges"
    guard (try? PrivateDirectory(paths.helpers, create: true)) != nil,
      (try? PrivateDirectory(place, create: true)) != nil
    else { return nil }
    path = "\(place)/aws-\(Self.digits(purpose.utf8))"
    var bytes = SecretText.bytes("", token)
    defer { wipe(&bytes) }
    mark = Array(Self.digits(bytes).utf8)
    self.linger = linger
  }

  private static func digits(_ bytes: some Sequence<UInt8>) -> String {
    let digits = String(IssuedTokens.hash(bytes), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// The answer: another process's, or the one that `ask` gets.
  ///
  /// - Throws: what `ask` throws, also where another process has asked.
  func answer(_ ask: () throws(CommandFailure) -> STSAnswer) throws(CommandFailure) -> STSAnswer {
    let deadline = BootClock.now + Self.politeness
    while BootClock.now < deadline {
      if let connection = try? UnixSocket.connect(to: path + ".socket", waitingAtMost: 1) {
        // Whatever kept the other one from answering, or from answering this one, is no reason to wait once more.
        guard let found = received(from: connection) else { break }
        return try found.get()
      }
      if let lock = try? FileLock(path + ".lock"),
        let listener = try? UnixSocket.listen(at: path + ".socket", holding: lock)
      {
        return try lead(listener, lock, ask)
      }
      // Another one has the lock and does not listen yet, or has stopped just now.
      var pause = PollSet(count: 0)
      _ = try? pause.wait(atMost: .milliseconds(10))
    }
    return try ask()
  }

  private func lead(
    _ listener: consuming UnixSocket.Listening, _ lock: consuming FileLock,
    _ ask: () throws(CommandFailure) -> STSAnswer
  ) throws(CommandFailure) -> STSAnswer {
    let result: Result<STSAnswer, CommandFailure>
    do throws(CommandFailure) { result = .success(try ask()) } catch { result = .failure(error) }
    var message = STSMessage.bytes(result)
    defer { wipe(&message) }
    if case .success(.keys) = result, linger > .zero,
      (try? ProcessCopy.run({ serve(listener, message, linger) })) != nil
    {
      return try result.get()
    }
    serve(listener, message, .zero)
    listener.removePath()
    _ = consume lock
    return try result.get()
  }

  /// Gives a message to all who wait, and to those who come within a time.
  private func serve(_ listener: borrowing UnixSocket.Listening, _ message: [UInt8], _ linger: Duration) {
    let end = BootClock.now + linger
    while true {
      while let accepted = try? UnixSocket.accept(from: listener.descriptor) { give(message, to: accepted) }
      let left = end - BootClock.now
      guard left > .zero else { break }
      var poll = PollSet(count: 1)
      poll.watch(0, listener.descriptor.number, readable: true)
      _ = try? poll.wait(atMost: left)
    }
    // Who connects after the last look is refused, and asks by itself.
    if linger > .zero { listener.removePath() }
  }

  private func give(_ message: [UInt8], to connection: borrowing FileDescriptor) {
    guard (try? PeerCredentials(of: connection))?.uid == ProcessIdentity.user,
      read(connection, atMost: mark.count, until: BootClock.now + Self.politeness) == mark
    else { return }
    send(message, connection, until: BootClock.now + Self.politeness)
  }

  private func received(from connection: borrowing FileDescriptor) -> Result<STSAnswer, CommandFailure>? {
    guard (try? PeerCredentials(of: connection))?.uid == ProcessIdentity.user,
      (try? connection.sendAll(mark.span)) != nil
    else { return nil }
    var bytes = read(connection, atMost: Self.longest, until: BootClock.now + Self.patience)
    defer { wipe(&bytes) }
    return STSMessage.result(bytes)
  }

  /// What comes until the other end has finished, there is as much as wanted, or the time is over.
  private func read(_ connection: borrowing FileDescriptor, atMost most: Int, until deadline: Duration) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: most)
    defer { wipe(&bytes) }
    var filled = 0
    var poll = PollSet(count: 1)
    poll.watch(0, connection.number, readable: true)
    while filled < most {
      let left = deadline - BootClock.now
      guard left > .zero, (try? poll.wait(atMost: left)) != nil else { break }
      guard poll.isReady(0) else { continue }
      guard case .bytes(let count) = connection.read(into: &bytes, at: filled) else { break }
      filled += count
    }
    return Array(bytes[..<filled])
  }

  /// Gives what is taken within the time; one who leaves meanwhile must not end this process by SIGPIPE.
  private func send(_ message: [UInt8], _ connection: borrowing FileDescriptor, until deadline: Duration) {
    var written = 0
    var poll = PollSet(count: 1)
    poll.watch(0, connection.number, writable: true)
    while written < message.count {
      switch connection.send(message, written..<message.count) {
      case .bytes(let count): written += count
      case .wouldBlock:
        let left = deadline - BootClock.now
        guard left > .zero, (try? poll.wait(atMost: left)) != nil else { return }
      case .endOfStream, .failed: return
      }
    }
  }
}
