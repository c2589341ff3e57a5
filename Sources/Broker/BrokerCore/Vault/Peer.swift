/// The connection that a request comes from.
package struct Peer: Hashable, Sendable {
  /// The connection.
  package let client: ClientID
  /// The process that made it, as the kernel names it; nil where the kernel names none.
  package let process: Int32?
  /// Whether it has proven access to the state directory.
  ///
  /// A request that needs such a proof is refused by an error whose `admitsProof` is set.
  package let isAdministrative: Bool

  /// A connection of a process.
  package init(client: ClientID, process: Int32?, isAdministrative: Bool = false) {
    self.client = client
    self.process = process
    self.isAdministrative = isAdministrative
  }

  /// Whose wrong passphrases are counted together.
  enum Guesser: Hashable {
    /// A process: one that connects again stays the same.
    case process(Int32)
    /// A connection whose process is unknown.
    case connection(ClientID)
  }

  /// Whose wrong passphrases its own are counted with.
  var guesser: Guesser { process.map(Guesser.process) ?? .connection(client) }
}
