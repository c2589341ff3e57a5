import JSON

/// The answer to a request, or the reason why there is none.
///
/// No `Result`: making that type for the first time searches the whole program for a conformance, which takes a short
/// command longer than all its own work.
enum Answer: Sendable {
  /// The method's result, not decoded yet.
  case result(JSONNode)
  /// Why there is none.
  case refusal(ClientError)
  /// Why there is none: the request was not sent.
  case unsent(ClientError)

  /// The result.
  ///
  /// - Throws: the reason why there is none.
  func get() throws(ClientError) -> JSONNode {
    switch self {
    case .result(let node): return node
    case .refusal(let error), .unsent(let error): throw error
    }
  }

  /// Decodes the result of a method.
  ///
  /// - Throws: the reason why there is none, or `unexpectedAnswer` where a member does not fit.
  func decoded<Value: JSONDecodable>(as type: Value.Type) throws(ClientError) -> Value {
    let node = try get()
    do throws(JSONMismatch) {
      return try Value(from: node)
    } catch {
      throw .unexpectedAnswer("\(error.pointer) must be \(error.expected)")
    }
  }
}
