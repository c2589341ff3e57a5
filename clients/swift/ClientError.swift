public import BrokerProtocol
import ClientSocket

/// Why a call to the broker has no result.
public enum ClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The broker answered with an error, which says what to do next.
  case broker(BrokerError)
  /// There is no broker to talk to, and why.
  case noBroker(reason: String)
  /// The connection ended before the answer came; whether the call had an effect is not known.
  case connectionLost
  /// No answer came within the caller's own time limit.
  case timedOut
  /// The calling task was cancelled; the broker was told.
  case cancelled
  /// The other end does not speak this protocol, and how that shows.
  case unexpectedAnswer(String)

  /// One sentence without secrets.
  public var description: String {
    switch self {
    case .broker(let error): error.message
    case .noBroker(let reason): reason
    case .connectionLost: "the broker closed the connection before it answered"
    case .timedOut: "the broker did not answer in time"
    case .cancelled: "the request was cancelled"
    case .unexpectedAnswer(let what): "the broker's answer is not what was expected: \(what)"
    }
  }

  /// The file by which the call that was refused may be made again; nil where that would not help.
  var proofFile: StateProofFile? {
    guard case .broker(let error) = self, let proof = error.proof else { return nil }
    return StateProofFile(path: proof.path, nonce: proof.nonce)
  }

  /// The same refusal, with what keeps the proof from being given in place of what a proof is.
  func unproven(_ sentence: String) -> ClientError {
    guard case .broker(let refusal) = self else { return self }
    var error = BrokerError(refusal.kind, sentence)
    error.proof = refusal.proof
    return .broker(error)
  }

  /// The failure of an attempt to connect.
  init(_ error: ConnectError) { self = .noBroker(reason: error.description) }
}
