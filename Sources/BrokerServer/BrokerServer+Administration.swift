import BrokerProtocol
import Logging

/// What is for clients that have the state directory, and for no other.
///
/// The parent of a broker on standard input and output has started the process, which proves as much.
extension BrokerServer {
  /// Makes the connection administrative if its client has made the file that it was asked for.
  func prove(_ request: Request) throws(BrokerError) -> Empty {
    guard let connection = connections[request.client], !connection.isAdministrative else { return Empty() }
    if let proof = proofs[connection.id] {
      proofs[connection.id] = nil
      connection.isAdministrative = environment.proofs.takes(proof)
    }
    guard connection.isAdministrative else { throw denial(connection) }
    return Empty()
  }

  /// The refusal of a method that needs a proof, with the one that is outstanding for the connection.
  ///
  /// Until it is used it stays the same, so that requests which are under way at the same time share it.
  func denial(_ connection: Connection) -> BrokerError {
    let proof = proofs[connection.id] ?? environment.proofs.challenge()
    proofs[connection.id] = proof
    var error = BrokerError(
      .accessDenied,
      "This requires proof of access to the broker's state directory; create the file named in proof, then call prove.")
    error.proof = proof
    return error
  }

  /// Forgets what a connection that ends was asked for.
  func forgetProof(_ connection: Connection) {
    guard !proofs.isEmpty, let proof = proofs.removeValue(forKey: connection.id) else { return }
    environment.proofs.discard(proof)
  }
}
