import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import Synchronization

/// Makes the proofs for a provider's requests, with what its answers have said that they need: the nonces of its servers,
/// and its clock.
///
/// A nonce goes to the server alone that gave it, and in the role alone in which it did (RFC 9449, sections 8 and 9), and
/// is used until that gives another.
final class ProofBench: Sendable {
  /// The role of a server, each with nonces of its own.
  enum Role: Sendable {
    /// It issues tokens.
    case issuer
    /// It takes them.
    case resource
  }

  /// A proof, and the moment that it names, as a difference of this machine's clock.
  struct Proof: Sendable {
    /// The proof.
    let value: Secret
    /// The nonce in it.
    let nonce: String?
    /// How far the server's clock was taken to be ahead.
    let ahead: Duration
  }

  /// The meaning of an answer for the next proof.
  enum Verdict: Sendable, Equatable {
    /// The proof was taken, or it is not what the answer is about.
    case taken
    /// The request may be sent again with another proof: it was refused for this one alone.
    case wanted
    /// Another proof would be refused as well.
    case refused
  }

  private struct Server: Hashable {
    let origin: String
    let role: Role
  }

  private struct State {
    /// The nonces, the one that was heard last at the end.
    var nonces: [(server: Server, nonce: String)] = []
    /// How far the provider's clock is ahead; zero until it has refused a proof.
    var ahead = Duration.zero
  }

  /// How often a request is sent: a wrong clock and a nonce that has just been replaced may come together.
  static let mostTries = 4
  /// More servers than a session's tokens are used at; the one that was not heard of for longest is forgotten, and asks
  /// for its nonce again.
  private static let mostServers = 64
  /// A smaller difference of clocks than this is what `Date` cannot show (RFC 9110, section 5.6.7).
  private static let smallestStep = Duration.seconds(2)

  private let state = Mutex(State())
  private let clock: OIDCProvider.Clock

  /// A bench that has heard nothing yet.
  init(_ clock: @escaping OIDCProvider.Clock) { self.clock = clock }

  /// Makes a proof for one request.
  ///
  /// - Parameters:
  ///   - request: the request; a nonce in it replaces the one that is known.
  ///   - key: the session's.
  ///   - token: the access token that goes with it; nil where there is none.
  ///   - role: the server's.
  /// - Returns: the proof.
  /// - Throws: as ``ProofKey/random()``.
  func proof(
    for request: ProvenRequest, by key: ProofKey, with token: Secret? = nil, _ role: Role
  ) throws(ProviderFailure) -> Proof {
    let server = Server(origin: request.origin, role: role)
    if let nonce = request.nonce { note(nonce, of: server) }
    let (nonce, ahead) = state.withLock { state in
      (state.nonces.last { $0.server == server }?.nonce, state.ahead)
    }
    let value = try key.proof(for: request, with: token, nonce: nonce, at: clock() + ahead)
    return Proof(value: value, nonce: nonce, ahead: ahead)
  }

  /// Makes a proof for one request with an access token.
  ///
  /// - Throws: as ``ProofKey/random()``; `.credentialMissing` for a token without a key.
  func proof(of token: BoundToken, for request: ProvenRequest) throws(ProviderFailure) -> Secret {
    guard token.kind == .proven, let key = token.key else {
      throw .credentialMissing(MissingCredential("The key of the session", "its tokens are bound to none"))
    }
    return try proof(for: request, by: key, with: token.value, .resource).value
  }

  /// Takes in what an answer says of the proof that its request had.
  func judge(_ answer: ProofAnswer, to proof: Proof, at url: HTTPURL, _ role: Role) -> Verdict {
    if let nonce = answer.nonce { note(nonce, of: Server(origin: url.proofOrigin, role: role)) }
    switch answer.problem {
    case nil: return .taken
    // What was demanded is not said.
    case .nonce: return answer.nonce == nil ? .refused : .wanted
    case .proof: return correct(by: answer.clockSkew, proof.ahead)
    }
  }

  private func note(_ nonce: String, of server: Server) {
    state.withLock { state in
      state.nonces.removeAll { $0.server == server }
      state.nonces.append((server, nonce))
      if state.nonces.count > Self.mostServers { state.nonces.removeFirst() }
    }
  }

  /// Sets the clock by the provider's, unless the refused proof was made by that: a correction that did not help is taken
  /// back.
  private func correct(by skew: Duration?, _ used: Duration) -> Verdict {
    state.withLock { state in
      // Another request has corrected it meanwhile.
      if state.ahead != used { return .wanted }
      // After a correction the times agree, unless this machine's clock was set meanwhile.
      guard let skew, Self.isStep(skew - used) else {
        state.ahead = .zero
        return .refused
      }
      state.ahead = skew
      return .wanted
    }
  }

  private static func isStep(_ step: Duration) -> Bool { step >= smallestStep || step <= .zero - smallestStep }
}

extension HTTPURL {
  /// The server as ``ProvenRequest`` names it.
  var proofOrigin: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension ProvenRequest {
  /// A request to an address as its provider announces it.
  init(_ method: HTTPRequest.Method, _ url: HTTPURL) {
    self.init(method: method.rawValue, address: url.written, origin: url.proofOrigin)
  }
}
