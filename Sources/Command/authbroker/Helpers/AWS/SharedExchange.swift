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
  /// Another user's process, or a mistaken one, must not keep the others waiting.
  private static let politeness = Duration.seconds(1)
  // Keys as JSON; what a socket takes at once.
  private static let longest = 128 * 1024

  private let path: String
  /// The mark of the processes that may have the answer, always of the same length.
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
    path = "\(place)/aws-\(String(IssuedTokens.hash(purpose.utf8), radix: 16))"
    var bytes = SecretText.bytes("", token)
    defer { wipe(&bytes) }
    let hash = IssuedTokens.hash(bytes)
    mark = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    self.linger = linger
  }

  /// The answer: another process's, or the one that `ask` gets.
  ///
  /// - Throws: what `ask` throws, also where another process has asked.
  func answer(_ ask: () throws(CommandFailure) -> [UInt8]) throws(CommandFailure) -> [UInt8] {
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
    _ ask: () throws(CommandFailure) -> [UInt8]
  ) throws(CommandFailure) -> [UInt8] {
    let result: Result<[UInt8], CommandFailure>
    do throws(CommandFailure) { result = .success(try ask()) } catch { result = .failure(error) }
    var message = Self.message(result)
    defer { wipe(&message) }
    if case .success = result, linger > .zero, (try? ProcessCopy.run({ serve(listener, message, linger) })) != nil {
      return try result.get()
    }
    serve(listener, message, .zero)
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
      Self.wait(listener.descriptor, atMost: left)
    }
    // Who connects after the last look is refused, and asks by itself.
    listener.removePath()
  }

  /// Gives it to who has the same token, as far as the socket takes it at once: no one else is kept waiting.
  private func give(_ message: [UInt8], to connection: borrowing FileDescriptor) {
    Self.wait(connection, atMost: Self.politeness)
    var mark = [UInt8](repeating: 0, count: mark.count)
    guard (try? PeerCredentials(of: connection))?.uid == ProcessIdentity.user,
      case .bytes(mark.count) = connection.read(into: &mark), mark == self.mark
    else { return }
    _ = connection.send(message.span)
  }

  private func received(from connection: borrowing FileDescriptor) -> Result<[UInt8], CommandFailure>? {
    guard (try? PeerCredentials(of: connection))?.uid == ProcessIdentity.user,
      (try? connection.sendAll(mark.span)) != nil
    else { return nil }
    Self.wait(connection, atMost: AWSExchange.patience + .seconds(2))
    try? connection.setNonBlocking()
    var bytes = [UInt8](repeating: 0, count: Self.longest)
    defer { wipe(&bytes) }
    guard case .bytes(let count) = connection.read(into: &bytes) else { return nil }
    return Self.result(bytes[..<count])
  }

  private static func wait(_ descriptor: borrowing FileDescriptor, atMost limit: Duration) {
    var poll = PollSet(count: 1)
    poll.watch(0, descriptor.number, readable: true)
    _ = try? poll.wait(atMost: limit)
  }

  /// The message between processes of this program: an exit code, the text to print, and the end of a line.
  static func message(_ result: Result<[UInt8], CommandFailure>) -> [UInt8] {
    switch result {
    case .success(let keys):
      var message = SecretText.bytes("\u{0}", keys.span)
      message.append(UInt8(ascii: "\n"))
      return message
    case .failure(let failure):
      let sentence = PlainText.line(failure.message.sentence.utf8)
      return [UInt8(clamping: failure.exitCode.rawValue)] + Array("\(sentence)\n".utf8)
    }
  }

  /// Reads it; nil for anything that was not told to its end.
  static func result(_ message: ArraySlice<UInt8>) -> Result<[UInt8], CommandFailure>? {
    guard message.count > 1, let code = message.first, message.last == UInt8(ascii: "\n") else { return nil }
    let text = message.dropFirst().dropLast()
    guard code > 0 else { return .success(Array(text)) }
    let exitCode = ExitCode(rawValue: Int32(code)) ?? .failure
    return .failure(CommandFailure(exitCode, String(decoding: text, as: UTF8.self)))
  }
}
