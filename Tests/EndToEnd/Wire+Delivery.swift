import JSON

extension Wire {
  /// What `getStatus` tells of the one way of messages that was used since the start; nil where none was.
  func delivery() throws -> JSONNode? { try call("getStatus").required("delivery").elements().first }

  /// A number of that: `sent`, `failed` or `underWay`; 0 where nothing was sent so far.
  func deliveryCount(_ name: String) throws -> Int {
    guard let way = try delivery() else { return 0 }
    return try Int(from: way.required(name))
  }
}
