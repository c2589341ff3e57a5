public import BrokerProtocol
import ClientSocket
import JSON

/// Why a call to the broker has no result.
public enum ClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The broker answered with an error, which says what to do next.
  case broker(BrokerError)
  /// There is no broker to talk to, and why.
  case noBroker(reason: String)
  /// The connection ended before the answer came; whether the call had an effect is not known.
  case connectionLost
  /// The broker is there and answers nothing, not even `ping`: it was stopped, or hangs.
  case unresponsive(pid: Int32?)
  /// The time limit of a call is over: the caller's, the usual one, or the request's own `timeoutSeconds`, of which the
  /// broker itself says so (`deadlineExceeded`).
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
    case .unresponsive(let pid): "the broker\(pid.map { " (pid \($0))" } ?? "") does not answer: it is stopped or hangs"
    case .timedOut: "the broker did not answer in time"
    case .cancelled: "the request was cancelled"
    case .unexpectedAnswer(let what): "the broker's answer is not what was expected: \(what)"
    }
  }

  /// The same error, with the broker's word for a time limit that is over as this library's own.
  var withOneDeadline: ClientError {
    guard case .broker(let error) = self, error.kind == .deadlineExceeded else { return self }
    return .timedOut
  }

  /// The beginning of the path of the file that proves access to the state directory, after which the refused call may
  /// be made again; nil where no file is to be created.
  func proofPath(for method: String, _ params: some JSONEncodable) -> String? {
    guard case .broker(let error) = self, let proof = error.proof, ProofRule.admits(error, of: method, params) else {
      return nil
    }
    return proof.path
  }

  /// The same refusal, with what keeps the proof from being given in place of what a proof is.
  ///
  /// A login says the rest of one that a recent login would let pass as well.
  func unproven(_ reason: StateProofFile.Refusal) -> ClientError {
    guard case .broker(let refusal) = self, refusal.kind == .accessDenied else { return self }
    var error = BrokerError(refusal.kind, reason.description)
    error.proof = refusal.proof
    return .broker(error)
  }

  /// The failure of an attempt to connect.
  init(_ error: ConnectError) { self = .noBroker(reason: error.description) }
}
