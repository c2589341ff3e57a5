package import BrokerProtocol

/// Names one connection, never used twice in a process.
package struct ClientID: Hashable, Sendable {
  /// The number behind the name.
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// The identity of a caller: one connection, as its listener and the kernel know it.
///
/// It is made when the connection is accepted, and goes with every request into the broker, which shows it what its
/// ``View`` has.
package struct Principal: Hashable, Sendable {
  /// The connection; nil for the broker itself.
  package let client: ClientID?
  /// The process that made it, as the kernel names it; nil where the kernel names none.
  package let process: Int32?
  /// The user of that process; nil where the kernel was not asked.
  package let user: UInt32?
  /// The group of that process; nil where the kernel was not asked.
  package let group: UInt32?
  /// Its permissions for each profile.
  package var permissions: Permissions
  /// The name of the method that it calls; nil for the connection itself, and for the broker.
  package var method: String?
  /// Whether it has proven access to the state directory.
  ///
  /// A request that needs such a proof is refused by an error whose `admitsProof` is set.
  package var isAdministrative: Bool

  /// The profiles that it is shown: where it is administrative, all.
  package var shown: ProfileMask { isAdministrative ? .all : permissions.visible }

  /// The profiles whose events it is told: where it is administrative, all.
  package var audible: ProfileMask { isAdministrative ? .all : permissions.audible }

  /// A connection of a process.
  package init(
    client: ClientID?, process: Int32?, user: UInt32? = nil, group: UInt32? = nil, _ permissions: Permissions = .all,
    isAdministrative: Bool = false
  ) {
    self.client = client
    self.process = process
    self.user = user
    self.group = group
    self.permissions = permissions
    self.isAdministrative = isAdministrative
  }

  /// The broker itself, which asks for tokens of its own.
  package static let broker = Principal(client: nil, process: nil, isAdministrative: true)

  /// The unit by which wrong passphrases are counted.
  enum Guesser: Hashable {
    /// A process: one that connects again stays the same.
    case process(Int32)
    /// A connection whose process is unknown.
    case connection(ClientID)
  }

  /// The unit that this principal's wrong passphrases count for; nil for the broker itself.
  var guesser: Guesser? { process.map(Guesser.process) ?? client.map(Guesser.connection) }
}

/// The profiles that exist for a principal: all, or some by their names, whether they are configured or not.
///
/// Whether a profile is one of them is found without an allocation, and in a time that hangs on these names alone: a
/// profile that is hidden takes as long as one that does not exist.
package struct ProfileMask: Hashable, Sendable {
  /// The names; nil for all.
  let names: ProfileIndex?

  /// All profiles.
  package static let all = ProfileMask(names: nil)

  private init(names: ProfileIndex?) { self.names = names }

  /// The profiles of these names, and no others.
  package init(_ names: some Sequence<ProfileName>) { self.init(names: ProfileIndex(Array(Set(names)))) }

  /// Whether it has every profile.
  package var isAll: Bool { names == nil }

  /// Whether it has a profile.
  package func includes(_ name: ProfileName) -> Bool {
    let utf8 = name.description.utf8
    return includes(utf8.span)
  }

  /// Whether it has the profile of the name with these bytes.
  func includes(_ name: Span<UInt8>) -> Bool {
    guard let names else { return true }
    return names.find(name) != nil
  }
}
