import BrokerProtocol
import JSON

/// One message of the broker, taken apart as far as every reader needs it.
enum IncomingMessage {
  /// The answer to a request of this connection.
  case response(id: Int64, Answer)
  /// An event for one subscription: the notification's `params`.
  case event(subscription: String, JSONNode)
  /// Anything that this version has no use for.
  case other

  /// Reads a message.
  ///
  /// - Throws: `unexpectedAnswer` for what is no JSON-RPC message, `broker` for an error that answers no request.
  init(_ text: [UInt8]) throws(ClientError) {
    let root: JSONNode
    do throws(JSONError) {
      root = try JSONDocument(parsing: text, limits: JSONLimits(depth: 64, byteCount: MessageBuffer.messageByteLimit))
        .root
    } catch { throw .unexpectedAnswer(error.reason.rawValue) }
    do throws(JSONMismatch) {
      self = try IncomingMessage.read(root)
    } catch {
      throw .unexpectedAnswer("\(error.pointer) must be \(error.expected)")
    }
    if case .response(0, .refusal(let error)) = self { throw error }
  }

  private static func read(_ root: JSONNode) throws(JSONMismatch) -> IncomingMessage {
    if root["method"] != nil {
      guard try root.required("method").string() == "event" else { return .other }
      let params = try root.required("params")
      return .event(subscription: try params.required("subscriptionId").string(), params)
    }
    let idNode = try root.required("id")
    // The id null: the broker could not make out which request it refuses. Ids of this side begin at 1.
    let id = idNode.isNull ? 0 : try idNode.integer()
    if let result = root["result"] { return .response(id: id, .result(result)) }
    let error = try BrokerError(from: try root.required("error"))
    return .response(id: id, .refusal(.broker(error)))
  }
}
