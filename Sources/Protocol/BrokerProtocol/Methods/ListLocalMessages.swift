public import JSON

/// Lists the messages in the outbox of the embedded provider, with their codes and tokens, the newest 200 at most.
///
/// A message that goes by mail, by SMS or to a program is never there. One whose code was used or has expired is
/// removed.
///
/// - Throws: directory.
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
