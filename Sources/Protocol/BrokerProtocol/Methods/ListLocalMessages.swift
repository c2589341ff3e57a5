public import JSON

/// Lists the messages in the outbox of the embedded provider, with their codes and tokens; the newest where there are too
/// many for one answer.
public enum ListLocalMessages: BrokerMethod {
  public static let name = "listLocalMessages"
  public typealias Params = Empty

  /// How many messages an answer has at most: their codes and texts lie in locked memory while it is made.
  public static let largestCount = 200

  public struct Result: ObjectCodable, Equatable {
    /// The messages, the oldest first.
    public var messages: [LocalMessage]

    public init(messages: [LocalMessage]) { self.messages = messages }

    public static let blank = Result(messages: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("messages", &messages)
    }
  }
}

extension ListLocalMessages.Result {
  public static let notes = SchemaNotes(members: ["messages": "The oldest first."])
}

extension ListLocalMessages {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Lists the messages in the outbox of the embedded provider, with their codes and tokens, the newest \(largestCount) \
      at most.
      """,
      details:
        """
        A message that goes by mail, by SMS or to a program is never there. One whose code was used or has expired is \
        removed.
        """,
      result: "messages",
      errors: ErrorKind.ofDirectory,
      examples: [
        .init(
          "a one-time code",
          result:
            """
            {
              "messages": [
                {
                  "number": 3,
                  "to": "+4912345678",
                  "method": "sms",
                  "subject": "Your login code",
                  "body": "Your login code is 000000. It expires in 5 minutes. Never give it to anyone.",
                  "code": "000000",
                  "createdAt": "2026-03-01T09:00:00Z",
                  "expiresAt": "2026-03-01T09:05:00Z"
                }
              ]
            }
            """)
      ])
  }
}
