/// Makes the connection administrative, for a client with access to the state directory.
///
/// checkVault, continueTrial, lock, logout with all, rekey, reloadConfig, stopBroker, tryProvider and the methods of
/// the embedded provider's owner (those with Local in their names) need access to the state directory, not merely to a
/// socket. Until a connection has proven that, they answer accessDenied with data.proof; the client creates the empty
/// file PATH.PID (exclusively, mode 0600), where PATH is the proof's path and PID the decimal number of the process
/// that holds the connection, which is the relay's behind a relay, and calls prove. The broker looks for that name
/// alone, with the number that the kernel gives it (SO_PEERCRED), checks owner, kind, mode and links, and removes the
/// file. A client creates it only for the owner of the state directory that it has found itself. reauthRequired can
/// carry a proof too: it lets the request pass without another login. One proof is outstanding for each connection, and
/// counts for that connection only; a client in another PID namespace gets none. The parent of a broker on standard
/// input and output has proven itself.
///
/// - Throws: accessDenied.
public enum Prove: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "prove"
}
