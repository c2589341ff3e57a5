import LinuxSystem

/// Where messages to users go when there is no network: one file each, which plays the text message.
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
