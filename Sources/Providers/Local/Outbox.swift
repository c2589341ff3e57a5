import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// Where messages to users go when there is no network: one file each, which plays the text message.
///
/// A message is the one place where a code is written down, so it is private (0600), appears as a whole, and is removed
/// as soon as its code is of no more use.
struct Outbox: ~Copyable {
  /// A message with a one-time code.
  struct Message {
    /// The phone number or address.
    var recipient: String
    /// How it would be sent.
    var method: OTPChallenge.Method
    /// The code.
    var code: Secret
    /// When it was made.
    var createdAt: Timestamp
  }

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
  func write(_ message: Message, number: Int64) throws(Errno) {
    // Large enough for every recipient that is accepted: the buffer never moves, so that no copy of the code stays.
    var buffer: [UInt8] = []
    buffer.reserveCapacity(1024)
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    defer { wipe(&writer.bytes) }
    var body = Array("Your login code is ".utf8)
    body.reserveCapacity(body.count + message.code.byteCount + 1)
    defer { wipe(&body) }
    message.code.withBytes { code in
      for index in code.indices { body.append(code[index]) }
    }
    body.append(UInt8(ascii: "."))
    writer.object { writer in
      writer.member("to", message.recipient)
      writer.member("method", message.method.rawValue)
      writer.member("subject", "Your login code")
      writer.key("body")
      writer.string(utf8: body.span)
      writer.key("code")
      message.code.withBytes { writer.string(utf8: $0) }
      writer.member("createdAt", message.createdAt)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    try directory.writeFile(Self.name(number), writer.bytes.span)
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
