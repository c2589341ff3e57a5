package import BrokerProtocol

/// A client as rules know it.
package struct AccessClient: Hashable, Sendable {
  /// The name of the limited socket that it came by; nil for another way.
  package var socket: String?
  /// Its user; the owner for the process that has started the broker, or has handed a connection over.
  package var user: UInt32
  /// Whether that is the broker's own user.
  package var isOwner: Bool
  /// Its systemd unit, with `user/` in front where a user's manager has made it; nil where none is known.
  package var unit: String?
  /// The label that a security module gives it; nil where none is known.
  package var label: String?
  /// The name that it gives itself.
  package var tool: String?

  /// A client of these members.
  package init(
    socket: String?, user: UInt32, isOwner: Bool, unit: String? = nil, label: String? = nil, tool: String? = nil
  ) {
    (self.socket, self.user, self.isOwner) = (socket, user, isOwner)
    (self.unit, self.label, self.tool) = (unit, label, tool)
  }
}

extension ClientIdentity {
  /// A client as it is shown.
  package init(_ client: AccessClient) {
    self.init(
      socket: client.socket, uid: Int(client.user), unit: client.unit, label: client.label,
      tool: client.tool.flatMap { $0.isEmpty ? nil : $0 })
  }
}

/// The clients that a rule is for; what it does not name matches every client of the owner on the main socket.
package struct ClientPattern: Hashable, Sendable {
  /// The name of a limited socket.
  package var socket: String?
  /// The numbers of users; nil for any.
  package var users: [ClosedRange<UInt32>]?
  /// The systemd unit; one without `user/` in front is the system's, which no user's unit matches.
  package var unit: NamePattern?
  /// The label that a security module gives.
  package var label: NamePattern?
  /// The name that the client gives itself: a claim, and no boundary.
  package var tool: String?

  /// The beginning of the name of a unit that a user's manager has made.
  package static let userPrefix = "user/"

  /// A pattern; without arguments one for every client of the owner.
  package init(
    socket: String? = nil, users: [ClosedRange<UInt32>]? = nil, unit: NamePattern? = nil, label: NamePattern? = nil,
    tool: String? = nil
  ) {
    (self.socket, self.users, self.unit) = (socket, users, unit)
    (self.label, self.tool) = (label, tool)
  }

  /// Whether a client is one of these.
  func matches(_ client: AccessClient) -> Bool {
    if let tool, tool != client.tool { return false }
    if let label, client.label.map(label.matches) != true { return false }
    if let unit, client.unit.map({ Self.isUnit($0, of: unit) }) != true { return false }
    if socket == nil, users == nil { return client.socket == nil && client.isOwner }
    return (socket ?? client.socket) == client.socket && users?.contains { $0.contains(client.user) } ?? true
  }

  private static func isUnit(_ unit: String, of pattern: NamePattern) -> Bool {
    unit.hasPrefix(userPrefix) == pattern.text.hasPrefix(userPrefix) && pattern.matches(unit)
  }
}
