import BrokerCore
import Configuration
import ConfigurationFile
import HTTP
import StaticProvider
import TestSupport
import Testing

/// The section of a profile whose token is a secret of the configuration.
@Suite(.standardTimeLimit) struct StaticProfileTests {
  private func parsed(_ profile: String) throws(ConfigurationError) -> StaticProfileConfiguration? {
    let text = #"{profiles: {maps: {provider: "static", \#(profile)}}}"#
    let profiles = try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["NAME": "X-Key"]).profiles
    guard case .remote(let remote)? = profiles.first?.provider else { return nil }
    return remote as? StaticProfileConfiguration
  }

  private func mistakes(_ profile: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try parsed(profile)
      return []
    } catch { return error.mistakes.map { "\($0.path): \($0.message)" } }
  }

  @Test(
    arguments: [
      (#"secret: {env: "KEY"}"#, "Authorization", "Bearer"),
      (#"secret: {file: "/k"}, header: "X-Api-Key""#, "X-Api-Key", "Bearer"),
      (#"secret: {command: ["pass", "k"]}, header: "authorization", scheme: "token""#, "Authorization", "token"),
      (#"secret: {env: "KEY"}, scheme: """#, "Authorization", ""),
      (#"secret: {env: "KEY"}, header: "${NAME}""#, "X-Key", "Bearer"),
    ])
  func `the secret is sent in Authorization as a bearer token, unless the profile says otherwise`(
    profile: String, name: String, scheme: String
  ) throws {
    #expect(try parsed(profile)?.field == ConfiguredField(name: name, scheme: scheme))
  }

  @Test(arguments: [
    "", "X Key", "X-Key:", "X-Key\\r\\nHost", "Ключ", "Host", "content-length", "Transfer-Encoding", "Connection", "TE",
    "Proxy-Authorization", "Content-Type", "Upgrade", "Expect", "Set-Cookie", "Sec-Fetch-Site", "HTTP2-Settings",
    String(repeating: "x", count: 65),
  ])
  func `a header that frames the message, or is none, is a mistake`(name: String) {
    let found = mistakes(#"secret: {env: "KEY"}, header: "\#(name)""#)
    #expect(found.count == 1 && found.first?.hasPrefix("profiles.maps.header: ") == true, "\(found)")
  }

  @Test(arguments: [
    #"header: "X-Key", scheme: "token""#, #"header: "X-Key", scheme: """#, #"scheme: "two words""#,
    #"scheme: "a\r\nb""#,
    #"scheme: "Bearer ""#,
  ])
  func `a scheme is one word, and goes with Authorization`(members: String) {
    let found = mistakes(#"secret: {env: "KEY"}, \#(members)"#)
    #expect(found.count == 1 && found.first?.hasPrefix("profiles.maps.scheme: ") == true, "\(found)")
  }

  @Test func `the secret itself is not in the configuration, and is not repeated`() {
    let found = mistakes(#"secret: "sk-1234567""#)
    #expect(found.count == 1 && !found.joined().contains("sk-1234567"), "\(found)")
    #expect(mistakes("").first?.hasPrefix("profiles.maps.secret: ") == true)
  }

  @Test(arguments: [
    "refreshSkewSeconds: 60", "backgroundRefresh: false", #"rotation: "never""#, "rotationGraceSeconds: 1",
    "idleTimeoutSeconds: 60", "keepAliveSeconds: 60", "warnBeforeEndSeconds: 1", #"revocation: "none""#,
    "allowIdToken: true", #"clientId: "c""#, #"clientSecret: {env: "KEY"}"#, #"scopes: ["a"]"#,
    #"baseUrl: "https://a.example""#,
  ])
  func `a secret has no session, no client and no server`(member: String) {
    #expect(mistakes(#"secret: {env: "KEY"}, \#(member)"#).count == 1)
  }

  @Test(arguments: [
    #"secret: {env: "OTHER"}"#, #"secret: {env: "KEY"}, header: "X-Key""#, #"secret: {env: "KEY"}, scheme: "x""#,
  ])
  func `another source or another header is another binding`(other: String) async throws {
    let client = try HTTPClient(version: "test", proxy: .none)
    let bindings = try [#"secret: {env: "KEY"}"#, #"secret: {env: "KEY"}"#, other].map { text in
      try #require(try parsed(text)).makeProvider(client: client) { _ in .failure(.unsupported) }.binding
    }
    await client.close()
    #expect(bindings[0] == bindings[1] && bindings[0] != bindings[2])
    #expect(bindings[2].type == "static" && bindings[2].issuer.isEmpty)
  }
}
