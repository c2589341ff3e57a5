import BrokerCore
import BrokerProtocol
import HTTP
import ProviderKit
import TextCoding

/// The part of an answer that is about the request's proof of possession (RFC 9449).
struct ProofAnswer: Sendable, Equatable {
  /// A flaw of the proof.
  enum Problem: String, Sendable {
    /// It has not the nonce that is wanted (section 8).
    case nonce = "use_dpop_nonce"
    /// It is not accepted (section 5); a clock that is wrong is one reason.
    case proof = "invalid_dpop_proof"
  }

  /// The nonce of the next proof, where the answer has one.
  var nonce: String?
  /// The flaw; nil where the answer is about something else.
  var problem: Problem?
  /// How far the server's clock is ahead of this machine's; nil where it does not say the time.
  var clockSkew: Duration?

  /// The statuses that a proof is refused with: Glewlwyd has 403 for both (RFC 9449 has 400 and 401).
  private static let statuses = [400, 401, 403]

  /// An answer.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - code: the error's name in it.
  ///   - clockSkew: how far its server's clock is ahead.
  init(_ response: HTTPResponse, code: String?, clockSkew: Duration?) {
    nonce = response.field("dpop-nonce").flatMap { ProvenRequest.isNonce($0) ? $0 : nil }
    self.clockSkew = clockSkew
    guard Self.statuses.contains(response.status) else { return }
    problem = code.flatMap(Problem.init) ?? Self.problem(in: response.fields("www-authenticate"))
  }

  /// The problem that a resource names in its challenge (section 7.1).
  private static func problem(in challenges: [String]) -> Problem? {
    BearerChallenge(challenges, scheme: "dpop")?.parameters["error"].flatMap(Problem.init)
  }
}
