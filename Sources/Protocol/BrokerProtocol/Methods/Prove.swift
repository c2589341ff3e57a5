public import JSON

/// Makes the connection administrative, for a client with access to the state directory.
///
/// checkVault, closeSocket, continueTrial, listSockets, lock, logout with all, openSocket, rekey, reloadConfig, stopBroker,
/// tryProvider and the methods of the embedded provider's owner (those with Local in their names) need access to the state
/// directory, not merely to a socket. Until a connection has proven that, they answer accessDenied with data.proof; the client creates the empty
/// file PATH.PID (exclusively, mode 0600), where PATH is the proof's path and PID the decimal number of the process
/// that holds the connection, which is the relay's behind a relay, and calls prove. The broker looks for that name
/// alone, with the number that the kernel gives it (SO_PEERCRED), checks owner, kind, mode and links, and removes the
/// file. A client creates it only for the owner of the state directory that it has found itself. reauthRequired can
/// carry a proof too: it lets the request pass without another login. A client that has not been asked yet names the file
/// itself, proof- and 32 hexadecimal digits that no other process can guess, and says so in name: it proves itself with
/// its first request. One proof is outstanding for each connection, and
/// counts for that connection only; a client in another PID namespace gets none. The parent of a broker on standard
/// input and output has proven itself.
///
/// - Throws: accessDenied.
public enum Prove: BrokerMethod {
  /// The name on the wire.
  public static let name = "prove"

  /// The result: an empty object.
  public typealias Result = Empty

  /// The parameters.
  public struct Params: MethodParams, Equatable {
    /// The name of the file in the state directory, without the process number, where the client has chosen it; absent: the
    /// one that the broker has asked for.
    public var name: String?

    public init(name: String? = nil) { self.name = name }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("name", &name, .word)
    }
  }
}
