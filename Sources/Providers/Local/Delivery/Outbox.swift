import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// The directory of messages to users where there is no network: one file each, in place of the text message.
///
/// A message is the one place where a code is written down, so it is private (0600), appears as a whole, and is removed
/// as soon as its code is of no more use.
struct Outbox: ~Copyable {
  private let directory: PrivateDirectory

  /// The outbox in a directory.
  init(directory: consuming PrivateDirectory) {
    self.directory = directory
  }

  /// Writes a message.
  ///
  /// - Parameters:
  ///   - message: what it says.
  ///   - number: never used before.
  /// - Throws: what the file system says.
  func write(_ message: OutboundMessage, number: Int64) throws(Errno) {
    try message.withJSONLine { line throws(Errno) in try directory.writeFile(Self.name(number), line) }
  }

  /// Reads a message.
  ///
  /// - Parameters:
  ///   - number: its number.
  ///   - expiresAt: when it is removed.
  /// - Returns: nil where there is none, as of one that went another way, and where another program has spoilt it.
  /// - Throws: what the file system says; `SecretMemoryExhausted`.
  func message(_ number: Int64, expiresAt: Timestamp) throws -> LocalMessage? {
    guard var bytes = try directory.readFile(Self.name(number), limit: Self.largestMessage) else { return nil }
    defer { wipe(&bytes) }
    do {
      return try LocalMessage(Int(number), expiresAt: expiresAt, from: try JSONDocument(parsing: bytes).root)
    } catch let error as JSONMismatch where error.isForWantOfMemory {
      throw SecretMemoryExhausted()
    } catch is JSONMismatch {
      return nil
    } catch is JSONError { return nil }
  }

  /// No message that is written here has more bytes: its text and addresses are bounded.
  private static let largestMessage = 16_384

  /// Removes a message, whole or half written; one that is not there is no error.
  ///
  /// - Throws: what the file system says.
  func remove(_ number: Int64) throws(Errno) {
    try directory.removeFile(Self.name(number))
    // Left by a process that was killed while it wrote.
    try directory.removeFile(".\(Self.name(number)).new")
  }

  /// Eight digits at least, so that names sort in the order of writing.
  private static func name(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits + ".json"
  }
}
