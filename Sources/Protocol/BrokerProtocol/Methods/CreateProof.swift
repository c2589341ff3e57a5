public import JSON
public import SecretMemory

/// Returns a proof of possession for one request with a token that is bound to a key (RFC 9449): the value of the header
/// DPoP, beside `Authorization: DPoP` and the token.
///
/// The key belongs to the session, and no client ever gets it. A proof is good for one request, within seconds. It is made
/// for a present token only: where the session was refreshed meanwhile, getAccessToken has the next one.
///
/// - Throws: profile, session, provider, consentDenied.
public enum CreateProof: BrokerMethod {
  public static let name = "createProof"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The keyed hash of the token that goes with the request.
    public var tokenID: String
    /// The method of the request, as it is sent.
    public var method: String
    /// The address of the request; a query or fragment is not part of the proof.
    public var url: String
    /// The nonce that the server has demanded (DPoP-Nonce); it holds for later proofs for the same server, too, until
    /// another is given.
    public var nonce: String?

    public init(
      profile: ProfileName? = nil, tokenID: String, method: String, url: String, nonce: String? = nil
    ) {
      self.profile = profile
      self.tokenID = tokenID
      self.method = method
      self.url = url
      self.nonce = nonce
    }

    public static let blank = Params(tokenID: "", method: "", url: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.required("tokenId", &tokenID, .word)
      try coder.required("method", &method, .word)
      try coder.required("url", &url, .text(atMost: ParameterLength.url))
      try coder.optional("nonce", &nonce, .text(atMost: ParameterLength.nonce))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The proof.
    public var proof: Secret

    public init(proof: Secret) { self.proof = proof }

    public static let blank = Result(proof: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("proof", &proof, .token)
    }
  }
}
