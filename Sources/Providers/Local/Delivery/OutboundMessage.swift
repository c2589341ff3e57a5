import BrokerProtocol
import JSON
import SecretMemory

/// A message to a user, written out and ready to be sent.
struct OutboundMessage: Sendable {
  /// Names the message, also when it is sent again: 128 random bits.
  let id: String
  /// The phone number or e-mail address.
  let recipient: String
  /// The way in which it reaches the user.
  let method: OTPChallenge.Method
  /// The content.
  let content: MessageContent
  /// One line, in the owner's words where there are any.
  let subject: String
  /// The whole text, with LF at each line's end.
  let body: Secret
  /// When it was made.
  let createdAt: Timestamp

  /// Writes a message.
  ///
  /// - Parameters:
  ///   - content: what it says.
  ///   - recipient: where it goes.
  ///   - method: how.
  ///   - createdAt: when it is made.
  ///   - wording: the owner's words.
  ///   - domain: what a code by SMS is bound to; nil for nothing.
  /// - Throws: `SecretMemoryExhausted`.
  init(
    _ content: MessageContent, to recipient: String, by method: OTPChallenge.Method, at createdAt: Timestamp,
    wording: MessageWording = MessageWording(), domain: DomainName? = nil
  ) throws(SecretMemoryExhausted) {
    id = LocalProvider.identifier()
    self.recipient = recipient
    self.method = method
    self.content = content
    self.createdAt = createdAt
    let own = wording.own[content.kind]
    subject = own?.subject ?? content.subject
    let bound = method == .sms && content.code != nil ? domain : nil
    body = try Self.text(content, own?.template?.text(lifetime: content.lifetime) ?? content.text, domain: bound)
  }

  /// With a domain, the last line is the origin-bound code of https://wicg.github.io/sms-one-time-codes/.
  private static func text(
    _ content: MessageContent, _ words: (before: String, after: String), domain: DomainName?
  ) throws(SecretMemoryExhausted) -> Secret {
    let before = words.before
    let (after, isBound) = (words.after + (domain.map { "\n\n@\($0.text) #" } ?? ""), domain != nil)
    let value = content.code ?? content.token ?? .empty
    var bytes: [UInt8] = []
    // Room for all of it: the buffer never moves, so that no copy stays.
    bytes.reserveCapacity(before.utf8.count + 2 * value.byteCount + after.utf8.count)
    bytes += before.utf8
    value.withBytes { value in
      for index in value.indices { bytes.append(value[index]) }
      bytes += after.utf8
      guard isBound else { return }
      for index in value.indices { bytes.append(value[index]) }
    }
    return try Secret(wiping: &bytes)
  }

  /// Lends the message as one line of JSON, then wipes it:
  /// `{"to","method","subject","body","code"?,"token"?,"createdAt"}`.
  ///
  /// - Throws: what `body` throws.
  func withJSONLine<R, E: Error>(_ use: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    var writer = JSONWriter()
    defer { wipe(&writer.bytes) }
    writer.object { writer in
      writer.member("to", recipient)
      writer.member("method", method.rawValue)
      writer.member("subject", subject)
      writer.key("body")
      body.withBytes { writer.string(utf8: $0) }
      for (name, value) in [("code", content.code), ("token", content.token)] {
        guard let value else { continue }
        writer.key(name)
        value.withBytes { writer.string(utf8: $0) }
      }
      writer.member("createdAt", createdAt)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    return try use(writer.bytes.span)
  }
}
