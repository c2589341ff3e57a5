import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TextCoding

/// A login in a browser: the values that were sent along with it, and must come back (RFC 8252; RFC 7636).
struct RedirectFlow: Sendable {
  /// The redirect address, with its port.
  let address: LoopbackRedirect
  /// The port that is listened on.
  let port: Int
  /// The state that the answer must repeat (RFC 6749, section 10.12): 256 random bits.
  let state: String
  /// The nonce behind ``sentNonce``: 256 random bits.
  let nonce: String
  /// The code verifier, which proves that the code was requested here (RFC 7636, section 4.1): 256 random bits, the
  /// shortest that is allowed.
  let verifier: Secret
  /// The requested scopes.
  let scopes: [String]
  /// Whether the answer must name its issuer (RFC 9207, section 2.4).
  let namesIssuer: Bool
  /// When the login ends if no browser comes.
  let expiresAt: Timestamp
  /// Whether the user must authenticate although the provider may know them still.
  let wantsProof: Bool
  /// The key that the tokens will be bound to, and the code is already (RFC 9449, section 10); nil for none.
  let key: ProofKey?

  /// How long a user may take to log in, with a second factor and a forgotten password.
  static let lifetime = Duration.seconds(600)
  /// How many random bytes each of the values has.
  private static let randomBytes = 32

  /// A new login that is listened for on a port.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  init(
    _ address: LoopbackRedirect, port: Int, scopes: [String], namesIssuer: Bool, wantsProof: Bool = false,
    key: ProofKey? = nil, at now: Timestamp
  ) throws(SealingError) {
    self.address = address
    self.port = port
    self.scopes = scopes
    self.namesIssuer = namesIssuer
    state = Self.random()
    nonce = Self.random()
    verifier = try CodeChallenge.makeVerifier()
    expiresAt = now + Self.lifetime
    self.wantsProof = wantsProof
    self.key = key
  }

  private static func random() -> String {
    String(decoding: Base64.encode(RandomBytes.array(count: randomBytes).span, as: .url), as: UTF8.self)
  }

  /// The address as the provider gets it.
  var redirectURI: String { address.text(port: port) }

  /// The nonce that the ID token must repeat (OpenID Connect Core, section 3.1.2.1); nil where no ID token is
  /// requested, since nothing could repeat it.
  var sentNonce: String? { scopes.contains("openid") ? nonce : nil }

  /// Reads what ``write(to:)`` wrote; nil for anything else.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  init?(_ root: JSONNode) throws(SecretMemoryExhausted) {
    guard let text = root["redirect"].flatMap({ try? $0.string() }), let address = LoopbackRedirect(text),
      let state = root["state"].flatMap({ try? $0.string() }), !state.isEmpty,
      let nonce = root["nonce"].flatMap({ try? $0.string() }), !nonce.isEmpty,
      let verifier = try root["verifier"]?.foundSecret(),
      let end = root["expiresAt"].flatMap({ try? Timestamp(from: $0) }), address.port > 0
    else { return nil }
    self.address = address
    port = address.port
    self.state = state
    self.nonce = nonce
    self.verifier = verifier
    scopes = PendingFlow.scopes(root)
    namesIssuer = root["namesIssuer"]?.kind == .true
    expiresAt = end
    wantsProof = root["wantsProof"]?.kind == .true
    key = try ProofKey.read(root)
  }

  /// When it was begun.
  var begunAt: Timestamp { expiresAt + (.zero - Self.lifetime) }

  /// Writes everything; the writer's bytes are the caller's to wipe.
  func write(to writer: inout JSONWriter) {
    writer.member("redirect", redirectURI)
    writer.member("state", state)
    writer.member("nonce", nonce)
    writer.member(revealing: "verifier", verifier)
    writer.member("scopes", scopes)
    writer.member("namesIssuer", namesIssuer)
    writer.member("expiresAt", expiresAt)
    writer.member("wantsProof", wantsProof)
    ProofKey.write(key, to: &writer)
  }
}
