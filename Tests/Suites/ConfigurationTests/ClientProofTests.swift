import BrokerProtocol
import Configuration
import ConfigurationFile
import OIDCProvider
import TestSupport
import Testing

/// What a client shows, as a configuration says it.
@Suite(.standardTimeLimit) struct ClientProofTests {
  private func profile(_ text: String) throws(ConfigurationError) -> OIDCProfileConfiguration? {
    let base = "provider:'oidc',issuer:'https://op.example.com',clientId:'cli'"
    let configuration = try BrokerConfiguration.parse(
      Array("{profiles:{work:{\(base),\(text)}}}".utf8), file: "c", environment: [:])
    guard case .remote(let remote)? = configuration.profiles.first?.provider else { return nil }
    return remote as? OIDCProfileConfiguration
  }

  private func mistakes(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try profile(text)
      return []
    } catch { return error.mistakes.map { $0.path.replacing("profiles.work.", with: "") } }
  }

  @Test func `each source of an assertion`() throws {
    let type = AssertionType.jwtBearer
    let sources: [(String, AssertionSource)] = [
      ("{file:'/run/token'}", .reference(SecretReference("clientAssertion", .file("/run/token"), .assertion))),
      (
        "{command:['token','x']}", .reference(SecretReference("clientAssertion", .command(["token", "x"]), .assertion))
      ),
      ("{githubActions:{audience:'https://sts'}}", .gitHubActions(audience: "https://sts", key: "clientAssertion")),
      ("{githubActions:{}}", .gitHubActions(audience: nil, key: "clientAssertion")),
    ]
    for (text, source) in sources {
      let profile = try profile("clientAssertion:\(text)")
      #expect(profile?.clientAssertion == .issued(source, type) && profile?.clientAuthentication == .assertion)
      #expect(profile?.clientSecret == nil && profile?.dialect.methods.contains(.clientCredentials) == true)
    }
    let spiffe = "assertionType:'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe'"
    #expect(
      try profile("clientAssertion:{file:'/t'},\(spiffe)")?.clientAssertion
        == .issued(.reference(SecretReference("clientAssertion", .file("/t"), .assertion)), .jwtSPIFFE))
  }

  @Test func `a private key`() throws {
    let plain = try profile("privateKey:{file:'/k.pem'}")
    #expect(plain?.clientAssertion == .signed(ClientKey(SecretReference("privateKey", .file("/k.pem"), .whole))))
    #expect(plain?.clientAuthentication == .privateKeyJWT)
    let whole = try profile(
      "privateKey:{env:'K'},clientAuth:'privateKeyJwt',privateKeyId:'k1',privateKeyAlgorithm:'RS256',"
        + "assertionAudience:'https://op.example.com/token',methods:['clientCredentials']")
    let key = ClientKey(
      SecretReference("privateKey", .environment("K"), .whole), keyID: "k1", algorithm: .rs256,
      audience: "https://op.example.com/token")
    #expect(whole?.clientAssertion == .signed(key) && whole?.dialect.methods == [.clientCredentials])
  }

  @Test(arguments: [
    ("clientAssertion:'eyJ'", ["clientAssertion"]), ("clientAssertion:{}", ["clientAssertion"]),
    ("clientAssertion:{file:'t'}", ["clientAssertion.file"]), ("clientAssertion:{env:'T'}", ["clientAssertion.env"]),
    ("clientAssertion:{file:'/t',command:['x']}", ["clientAssertion"]),
    ("clientAssertion:{githubActions:'x'}", ["clientAssertion.githubActions"]),
    ("clientAssertion:{githubActions:{audience:''}}", ["clientAssertion.githubActions.audience"]),
    ("clientAssertion:{file:'/t'},clientSecret:{env:'S'}", ["clientAssertion"]),
    ("clientAssertion:{file:'/t'},clientAuth:'basic'", ["clientAuth"]),
    ("clientAssertion:{file:'/t'},clientAuth:'none'", ["clientAuth"]),
    ("clientAssertion:{file:'/t'},clientAuth:'assertion'", ["clientAuth"]),
    ("assertionType:'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'", ["assertionType"]),
    ("clientAssertion:{file:'/t'},assertionType:'jwt'", ["assertionType"]),
    ("clientAuth:'privateKeyJwt'", ["clientAuth"]),
    ("clientAuth:'privateKeyJwt',clientSecret:{env:'S'}", ["clientAuth"]),
    ("privateKey:{file:'/k'},clientAuth:'post'", ["clientAuth"]), ("privateKeyId:'k'", ["privateKeyId"]),
    ("privateKeyAlgorithm:'ES256'", ["privateKeyAlgorithm"]), ("assertionAudience:'a'", ["assertionAudience"]),
    ("privateKey:{file:'/k'},privateKeyAlgorithm:'EdDSA'", ["privateKeyAlgorithm"]),
    ("privateKey:'-----BEGIN'", ["privateKey"]), ("methods:['clientCredentials']", ["methods[0]"]),
  ])
  func `what cannot be is a mistake of its own place`(_ text: String, _ paths: [String]) {
    #expect(mistakes(text) == paths, "\(text)")
  }
}
