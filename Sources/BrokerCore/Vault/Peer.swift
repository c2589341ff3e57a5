/// Where a request for the vault's key comes from.
package struct Peer: Hashable, Sendable {
  /// The connection.
  package let client: ClientID
  /// The process that made it, as the kernel names it; nil where the kernel names none.
  package let process: Int32?

  /// A connection of a process.
  package init(client: ClientID, process: Int32?) {
    self.client = client
    self.process = process
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
