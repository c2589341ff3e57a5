import BrokerCore
import BrokerProtocol
import Logging

/// What is for clients that have the state directory, and for no other.
///
/// The parent of a broker on standard input and output has started the process, which proves as much.
extension BrokerServer {
  /// Makes the connection administrative if its own process has created the file that it was asked for.
  func prove(_ request: Request) throws(BrokerError) -> Empty {
    guard let connection = connections[request.client], !connection.isAdministrative else { return Empty() }
    guard let proof = proofs.removeValue(forKey: connection.id), let process = connection.provableProcess else {
      var question = denial(connection)
      question.admitsProof = question.proof != nil
      throw question
    }
    connection.isAdministrative = environment.proofs.takes(proof, from: process)
    guard connection.isAdministrative else { throw denial(connection, instead: "\(proof.path).\(process)") }
    return Empty()
  }

  /// The refusal of a method that needs a proof, with the one that is outstanding for the connection.
  ///
  /// - Parameters:
  ///   - connection: whose request is refused.
  ///   - missing: the file that was to be there when the client said that it is.
  /// - Returns: the error; without a proof where the client cannot give one.
  func denial(_ connection: Connection, instead missing: String? = nil) -> BrokerError {
    let proof = outstandingProof(connection)
    let sentence =
      if proof == nil {
        "This requires proof of access to the broker's state directory, which a client in another PID namespace cannot "
          + "give; call it where the broker runs."
      } else if let missing {
        "\(missing) is no file of the broker's user with mode 0600: it is named after the process that holds the "
          + "connection, by its number in the broker's PID namespace."
      } else {
        "This requires proof of access to the broker's state directory; create the empty file that proof names with a "
          + "full stop and the process number of this connection's client, then call prove."
      }
    var error = BrokerError(.accessDenied, sentence)
    error.proof = proof
    return error
  }

  /// The error of a request as its client gets it: with a proof where one would let the request pass, and with nothing
  /// of a login that is not for this connection.
  func completed(_ error: BrokerError, of key: CallerID) -> BrokerError {
    var error = named(error)
    guard let client = requests[key]?.client, let connection = connections[client], !connection.isAdministrative
    else { return error }
    error = error.shown(to: connection.peer)
    guard error.admitsProof else { return error }
    error.proof = outstandingProof(connection)
    return error
  }

  /// The proof that a connection is asked for; nil where the kernel names no process that could give one.
  ///
  /// Until it is used it stays the same, so that requests which are under way at the same time share it.
  private func outstandingProof(_ connection: Connection) -> StateProof? {
    guard connection.provableProcess != nil else { return nil }
    let proof = proofs[connection.id] ?? environment.proofs.challenge()
    proofs[connection.id] = proof
    return proof
  }

  /// Forgets what a connection that ends was asked for.
  func forgetProof(_ connection: Connection) {
    guard !proofs.isEmpty, let proof = proofs.removeValue(forKey: connection.id),
      let process = connection.provableProcess
    else { return }
    environment.proofs.discard(proof, from: process)
  }
}
