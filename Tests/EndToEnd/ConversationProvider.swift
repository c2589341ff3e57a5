import JSON

/// The provider behind a golden conversation, and where a test finds what it has for its users.
enum ConversationProvider {
  /// Whose backup codes are made.
  private static let email = "ada@example.com"

  /// The embedded one, with the directory of its messages.
  case embedded(outbox: String)
  /// A REST backend.
  case rest(RESTBackend)

  /// The code or the token of the newest message.
  func newest(_ member: Conversation.MessageMember) throws -> String {
    switch (self, member) {
    case (.embedded(let outbox), _): try Outbox.newest(member.rawValue, in: outbox)
    case (.rest(let backend), .code): try backend.code()
    case (.rest(let backend), .token): try backend.token()
    }
  }

  /// A new backup code that a user gets on a page of the backend; nil where the broker asks for them.
  func newBackupCode() throws -> String? {
    guard case .rest(let backend) = self else { return nil }
    let answer = try backend.ask("/backup-codes", #"{"email":"\#(Self.email)"}"#)
    return try answer.required("backupCodes").elements().first?.string()
  }
}
