import BrokerProtocol
import JSON

extension LocalMessage {
  /// Reads a message as ``OutboundMessage/withJSONLine(_:)`` writes it.
  ///
  /// - Parameters:
  ///   - number: its number.
  ///   - expiresAt: when it is removed.
  ///   - node: the object of its file.
  /// - Throws: `JSONMismatch` for anything else.
  init(_ number: Int, expiresAt: Timestamp, from node: JSONNode) throws(JSONMismatch) {
    let method = try node.required("method")
    guard let way = OTPChallenge.Method(rawValue: try method.string()) else { throw method.mismatch("a known method") }
    self.init(
      number: number, recipient: try node.required("to").string(), method: way,
      subject: try node.required("subject").string(), body: try node.required("body").secret(),
      code: try node.optional("code") { node throws(JSONMismatch) in try node.secret() },
      token: try node.optional("token") { node throws(JSONMismatch) in try node.secret() },
      createdAt: try Timestamp(from: try node.required("createdAt")), expiresAt: expiresAt)
  }
}
