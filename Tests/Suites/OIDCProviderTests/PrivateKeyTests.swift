import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import LinuxSystem
import ProviderKit
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import OIDCProvider

/// Clients that sign their assertions with a key of their own, which another program verifies.
@Suite(.standardTimeLimit) struct PrivateKeyTests {
  private static let openssl = "/usr/bin/openssl"
  private static let python = "/usr/bin/python3"
  private static let tokens = FakeProvider.Reply(200, #"{"access_token":"at","expires_in":60}"#)
  private static func isThere(_ path: String) -> Bool { (try? FileStatus.following(path)) != nil }
  private static let hasTools =
    ["jwt", "cryptography"].allSatisfy { isThere("/usr/lib/python3/dist-packages/" + $0) } && isThere(openssl)

  private static let source = SecretReference("privateKey", .file("/k"), .whole)

  private let scratch = Scratch()

  /// Prints what a token says, once PyJWT has verified it with the public key.
  private static let verifying = """
    import json, sys, jwt
    token, audience, algorithm = open(sys.argv[1]).read().split()
    claims = jwt.decode(token, open(sys.argv[2]).read(), algorithms=[algorithm], audience=audience,
      options={"require": ["iss", "sub", "aud", "jti", "iat", "exp"]})
    assert isinstance(claims["aud"], str) and 0 < claims["exp"] - claims["iat"] <= 60
    header = jwt.get_unverified_header(token)
    print(header["typ"], header.get("kid"), claims["iss"], claims["sub"], claims["jti"])
    """

  /// Makes a key with openssl, its public half beside it.
  private func makeKey(_ algorithm: String) throws -> Secret {
    let how =
      algorithm == "ES256"
      ? ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
      : ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    _ = try output(of: [Self.openssl, how[0], "-out", scratch.file("key")] + how.dropFirst())
    _ = try output(of: [Self.openssl, "pkey", "-in", scratch.file("key"), "-pubout", "-out", scratch.file("public")])
    let text = try scratch.bytes(of: "key")
    return try Secret(copying: text.span)
  }

  private func run(
    _ key: ClientKey, _ pem: Secret, _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run(always: Self.tokens) { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["a"])
      dialect.usesDiscovery = false
      dialect.endpoints = [.token: server.issuer + "/token"]
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let configuration = OIDCProfileConfiguration(
        dialect: dialect, clientID: "cli", clientAssertion: .signed(key), clientAuthentication: .privateKeyJWT)
      let result: Result<Void, any Error>
      do {
        let provider = try OIDCProvider(configuration, client: client) { reference in
          reference == key.source ? .success(pem) : .failure(.unsupported)
        }
        result = .success(try await body(provider, server))
      } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  @Test(
    .enabled(if: hasTools, "openssl, python3-jwt or python3-cryptography is not installed"),
    arguments: ["ES256", "RS256"])
  func `another program verifies what the client signs`(_ algorithm: String) async throws {
    let pem = try makeKey(algorithm)
    var key = ClientKey(Self.source, keyID: "k1", algorithm: ClientKey.Algorithm(rawValue: algorithm))
    for audience in [nil, "https://sts.example.com/token", "endpoint"] {
      key.audience = audience
      try await run(key, pem) { provider, server in
        for _ in 0..<2 { _ = try await provider.login(Credentials(method: .clientCredentials)) }
        var lines: [String] = []
        let wanted = audience == "endpoint" ? server.issuer + "/token" : audience ?? server.issuer
        for request in server.requests {
          #expect(request.fields["authorization"] == nil && request.form["client_id"] == "cli")
          #expect(request.form["client_assertion_type"] == AssertionType.jwtBearer.rawValue)
          let assertion = try #require(request.form["client_assertion"])
          try scratch.write("\(assertion) \(wanted) \(algorithm)", to: "token")
          lines.append(
            try output(of: [Self.python, "-I", "-c", Self.verifying, scratch.file("token"), scratch.file("public")]))
        }
        #expect(lines.count == 2 && lines[0] != lines[1], "each has a jti of its own")
        for line in lines { #expect(line.hasPrefix("client-authentication+jwt k1 cli cli "), "\(line)") }
      }
    }
  }

  @Test(arguments: ["no key", "", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"])
  func `what is no private key is said, and nothing is sent`(_ text: String) async throws {
    try await run(ClientKey(Self.source), try secret(text)) { provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.login(Credentials(method: .clientCredentials))
      }
      #expect(refusal?.kind == .missingCredential && server.requests.isEmpty)
    }
  }

  @Test(.enabled(if: isThere(openssl), "openssl is not installed"))
  func `a key for another algorithm than the configured one is refused`() async throws {
    let pem = try makeKey("ES256")
    try await run(ClientKey(Self.source, algorithm: .rs256), pem) { provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.login(Credentials(method: .clientCredentials))
      }
      guard case .credentialMissing(let credential)? = refusal else {
        Issue.record("another failure: \(String(describing: refusal))")
        return
      }
      #expect(credential.subject == "privateKey in the file /k")
      #expect(credential.reason.contains("privateKeyAlgorithm") && server.requests.isEmpty)
    }
  }
}
