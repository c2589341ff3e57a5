public import JSON

/// A client as rules know it, and as its owner is shown it.
public struct ClientIdentity: ObjectCodable, Hashable {
  /// The limited socket that it came by; nil for another way.
  public var socket: String?
  /// The user of its process.
  public var uid: Int
  /// Its systemd unit, with `user/` in front where a user's manager has made it.
  public var unit: String?
  /// The label that a security module gives it.
  public var label: String?
  /// The name that it gives itself.
  public var tool: String?

  /// A client of these members.
  public init(socket: String? = nil, uid: Int, unit: String? = nil, label: String? = nil, tool: String? = nil) {
    (self.socket, self.uid, self.unit, self.label, self.tool) = (socket, uid, unit, label, tool)
  }

  public static let blank = ClientIdentity(uid: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.optional("socket", &socket)
    try coder.required("uid", &uid, .count)
    try coder.optional("unit", &unit)
    try coder.optional("label", &label)
    try coder.optional("tool", &tool)
  }
}
