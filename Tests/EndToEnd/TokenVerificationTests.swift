import JSON
import LinuxSystem
import TestSupport
import Testing

/// Access tokens as another program verifies them: PyJWT, which has nothing but the key set that the command prints.
@Suite(.standardTimeLimit) struct TokenVerificationTests {
  private static let python = "/usr/bin/python3"
  /// What Debian's python3-jwt and python3-cryptography bring: the one needs the other for Ed25519.
  private static let isInstalled = ["jwt", "cryptography"].allSatisfy { name in
    (try? FileStatus.following("/usr/lib/python3/dist-packages/" + name)) != nil
  }

  /// Reads a key set, a token, and which audience and issuer it must have, and prints whose the token is.
  private static let program = """
    import json, sys, jwt
    keys, token, audience, issuer = json.load(sys.stdin)
    key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key.key, algorithms=["EdDSA"], audience=audience, issuer=issuer)
    print(claims["sub"])
    """

  private static func verify(
    _ token: String, _ keys: String, for audience: String = "authbroker", from issuer: String = "authbroker-local",
    _ sandbox: Sandbox
  ) throws -> Sandbox.Outcome {
    try sandbox.run(
      python, ["-I", "-c", program], input: #"[\#(keys), "\#(token)", "\#(audience)", "\#(issuer)"]"#)
  }

  private static func keys(_ sandbox: Sandbox) throws -> String { try sandbox.command("local", "jwks").output }

  /// The token with another character in the middle of one of its three parts.
  private static func changed(_ token: String, part: Int) -> String {
    var parts = token.split(separator: ".").map { Array($0) }
    let middle = parts[part].count / 2
    parts[part][middle] = parts[part][middle] == "A" ? "B" : "A"
    return parts.map { String($0) }.joined(separator: ".")
  }

  @Test(.enabled(if: isInstalled, "python3-jwt or python3-cryptography is not installed"))
  func `another program verifies a token with the printed key set, and no token that was changed`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let user = try client.call("getSession").required("userId").string()
      let (token, keys) = (try client.accessToken(), try Self.keys(sandbox))
      let verified = try Self.verify(token, keys, sandbox)
      #expect(verified.code == 0 && verified.output == user + "\n", "\(verified.errors)")
      for part in 0...2 {
        let refused = try Self.verify(Self.changed(token, part: part), keys, sandbox)
        #expect(refused.code != 0 && refused.output.isEmpty, "part \(part)")
        // A changed header names no key, or is none.
        #expect(part == 0 || refused.errors.contains("InvalidSignatureError"), "\(refused.errors)")
      }
    }
  }

  @Test(.enabled(if: isInstalled, "python3-jwt or python3-cryptography is not installed"))
  func `one session has a token for each service, and none is good at another one`() async throws {
    try await Sandbox.run { sandbox in
      let issuer = "https://id.example.com"
      let audiences = ["https://api.example.com", "https://orders.example.com", "https://stock.example.com"]
      let local = #"audience: "\#(audiences[0])", audiences: ["\#(audiences[1])", "\#(audiences[2])"]"#
      _ = try sandbox.owner(try sandbox.configure(#"{ local: { issuer: "\#(issuer)", \#(local) } }"#))
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let keys = try Self.keys(sandbox)
      for audience in audiences {
        let asked = audience == audiences[0] ? "{}" : #"{"audience":"\#(audience)"}"#
        let token = try client.call("getAccessToken", asked).required("accessToken").string()
        #expect(try client.call("getAccessToken", asked).required("accessToken").string() == token)
        for other in audiences {
          let verified = try Self.verify(token, keys, for: other, from: issuer, sandbox)
          #expect((verified.code == 0) == (other == audience), "\(audience) at \(other): \(verified.errors)")
        }
        let refused = try Self.verify(token, keys, for: audience, sandbox)
        #expect(refused.errors.contains("InvalidIssuerError"), "\(refused.errors)")
      }
      #expect(try client.refusal("getAccessToken", #"{"audience":"https://other.example.com"}"#) == "insufficientScope")
      let user = try client.call("getCurrentUser", #"{"maxAgeSeconds":0}"#)
      #expect(try user.required("email").string() == "ada@example.com")
      #expect(try client.call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test(.enabled(if: isInstalled, "python3-jwt or python3-cryptography is not installed"))
  func `after a rotation the new key set verifies the tokens of both keys, the old one only its own`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let (old, oldKeys) = (try client.accessToken(), try Self.keys(sandbox))
      #expect(try sandbox.command("local", "rotate-key").code == 0)
      let newKeys = try Self.keys(sandbox)
      let renewed = try client.call("getAccessToken", #"{"forceRefresh":true}"#)
      let new = try renewed.required("accessToken").string()
      for (token, keys) in [(old, oldKeys), (old, newKeys), (new, newKeys)] {
        let verified = try Self.verify(token, keys, sandbox)
        #expect(verified.code == 0, "\(verified.errors)")
      }
      let unknown = try Self.verify(new, oldKeys, sandbox)
      #expect(unknown.code != 0 && unknown.errors.contains("KeyError"), "\(unknown.errors)")
    }
  }
}
