import JSON
import LinuxSystem

/// Asks the broker behind a socket which state directory it serves.
///
/// It says so where it asks for a proof of access to that directory, without which `checkVault` is refused. The
/// question needs a connection of its own: the first message decides the framing of a connection.
enum StateProbe {
  /// How long an answer may take: behind a service manager's socket, a broker may be just starting.
  private static let patience = Duration.seconds(60)
  /// The most that is read of an answer: a path of 4,096 bytes (PATH_MAX), each of which may be escaped with six.
  private static let longestAnswer = 64 * 1024
  private static let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"checkVault","params":{"full":false}}"#.utf8)

  /// Asks.
  ///
  /// - Parameter socket: connected, and used for nothing else.
  /// - Returns: the directory; nil if the other end does not say.
  /// - Throws: `EAGAIN` if it does not answer in time; what send(2) or poll(2) says.
  static func stateDirectory(behind socket: borrowing FileDescriptor) throws(Errno) -> String? {
    let question = request + [UInt8(ascii: "\n")]
    try socket.sendAll(question.span)
    let deadline = BootClock.now + patience
    var said = [UInt8](repeating: 0, count: longestAnswer)
    var filled = 0
    var poll = PollSet(count: 1)
    poll.watch(0, socket.number, readable: true)
    while filled < said.count {
      let left = deadline - BootClock.now
      guard left > .zero else { throw .again }
      let ready = try poll.wait(atMost: left)
      guard ready > 0 else { continue }
      guard case .bytes(let count) = socket.read(into: &said, at: filled) else { return nil }
      filled += count
      if let end = said[..<filled].firstIndex(of: UInt8(ascii: "\n")) { return directory(in: Array(said[..<end])) }
    }
    return nil
  }

  private static func directory(in answer: [UInt8]) -> String? {
    guard let root = try? JSONDocument(parsing: answer).root,
      let path = try? root["error"]?["data"]?["proof"]?["path"]?.string(), PathName.isAbsolute(path)
    else { return nil }
    return PathName.directory(of: path)
  }
}
