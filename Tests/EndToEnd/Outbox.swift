import JSON

/// The messages that the embedded provider sent.
enum Outbox {
  /// The code of the newest message that has one.
  static func newestCode(in path: String) throws -> String { try newest("code", in: path) }

  /// Reads a member of the newest message that has it: the one with the highest number.
  ///
  /// - Parameters:
  ///   - member: its name.
  ///   - recipient: the phone number or e-mail address that the message went to; nil where any will do.
  ///   - path: the outbox. Messages that are removed meanwhile are passed over.
  /// - Returns: its text.
  /// - Throws: ``TestFailure`` where there is no such message.
  static func newest(_ member: String, to recipient: String? = nil, in path: String) throws -> String {
    for name in Directory.names(in: path).reversed() where name.hasSuffix(".json") {
      guard let bytes = try? Directory.bytes(of: "\(path)/\(name)") else { continue }
      let message = try JSONDocument(parsing: bytes).root
      guard let value = message[member] else { continue }
      if try recipient == nil || recipient == message.required("to").string() { return try value.string() }
    }
    throw TestFailure("there is no message with a \(member) in \(path)")
  }
}
