package import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
package import SecretMemory

/// Sessions with a key that their tokens are bound to (RFC 9449).
extension OIDCProvider: ProofProvider {
  package func proof(of token: BoundToken, for request: ProvenRequest) throws(ProviderFailure) -> Secret {
    try proofs.proof(of: token, for: request)
  }

  /// The key for a new session; nil where the profile's tokens are not to be bound.
  ///
  /// - Throws: `.transient(.overloaded)`, `.credentialMissing`.
  func newKey() throws(ProviderFailure) -> ProofKey? { dialect.bindsTokens ? try .random() : nil }

  /// The key of a session: its own, whatever the profile says now; a session without one gets it with its next tokens.
  ///
  /// - Throws: as ``newKey()``.
  func key(of token: BoundToken) throws(ProviderFailure) -> ProofKey? {
    if let key = token.key { return key }
    return try newKey()
  }

  /// Sends a request with an access token, with a proof where that is bound to a key; one that only reads is sent again
  /// where it was refused for its proof alone.
  ///
  /// - Parameters:
  ///   - token: whose request it is.
  ///   - request: what to send.
  /// - Returns: the response, whatever its status.
  /// - Throws: `.transient` where there is none; `.misconfigured(.possession)` where no proof is accepted; as ``newKey()``.
  func present(_ token: BoundToken, _ request: HTTPRequest) async throws(ProviderFailure) -> HTTPResponse {
    guard token.kind == .proven, let key = token.key else { return try await send(request, with: token) }
    var request = request
    // A proof is shown once, also where a kept connection turns out to be dead.
    request.delivery = .once
    for _ in 0..<ProofBench.mostTries {
      let subject = ProvenRequest(request.method, request.url)
      let proof = try proofs.proof(for: subject, by: key, with: token.value, .resource)
      request.proof = proof.value
      let sentAt = clock()
      let response = try await send(request, with: token)
      let moments = ReplyMoments(response, sentAt: sentAt, receivedAt: clock())
      let answer = ProofAnswer(response, code: Self.error(in: response), clockSkew: moments.clockSkew)
      switch proofs.judge(answer, to: proof, at: request.url, .resource) {
      case .taken: return response
      case .refused: throw .misconfigured(.possession)
      case .wanted: continue
      }
    }
    throw .proofWanted
  }

  private func send(_ request: HTTPRequest, with token: BoundToken) async throws(ProviderFailure) -> HTTPResponse {
    do throws(HTTPFailure) { return try await sessionTransport.send(request, with: token) } catch {
      // It only reads: whatever became of it, nothing has happened.
      throw .transient(ErrorKind(error))
    }
  }

  /// The name of the error in a refusal; some resources have it there alone.
  private static func error(in response: HTTPResponse) -> String? {
    guard response.status >= 400 else { return nil }
    return response.body.withArray { bytes in
      ReplyObject.withRoot(of: bytes, VitalMembers([["error"]])) { root in
        root["error"].flatMap { try? $0.string() }
      }
    }
  }
}
