import BrokerProtocol
import Configuration
import ConfigurationFile
import OIDCProvider
import TestSupport
import Testing

/// Profiles whose tokens need no login, as a configuration says them.
@Suite(.standardTimeLimit) struct GrantConfigurationTests {
  private static let base = "provider:'oidc',issuer:'https://op.example.com',clientId:'cli'"

  private func configuration(_ work: String, _ others: String = "") throws(ConfigurationError) -> BrokerConfiguration {
    try BrokerConfiguration.parse(
      Array("{profiles:{work:{\(Self.base),\(work)}\(others)}}".utf8), file: "c", environment: [:])
  }

  private func dialect(_ work: String, _ others: String = "") throws -> OIDCDialect? {
    guard case .remote(let remote)? = try configuration(work, others).profiles.first?.provider else { return nil }
    return (remote as? OIDCProfileConfiguration)?.dialect
  }

  private func mistakes(_ work: String, _ others: String = "") -> [String] {
    do throws(ConfigurationError) {
      _ = try configuration(work, others)
      return []
    } catch { return error.mistakes.map { $0.path.replacing("profiles.", with: "") } }
  }

  private let sso = ",sso:{provider:'local'}"

  @Test func `each grant`() throws {
    let name = try #require(ProfileName("sso"))
    let own = try dialect("grant:'clientCredentials',clientSecret:{env:'S'}")
    #expect(own?.grant == .clientCredentials && own?.methods == [] && own?.scopes == [])
    func file(_ key: String) -> TokenSource {
      .assertion(.reference(SecretReference(key, .file("/t"), .assertion)))
    }
    #expect(try dialect("grant:'jwtBearer',assertion:{file:'/t'},scopes:['x']")?.grant == .jwtBearer(file("assertion")))
    #expect(
      try dialect("grant:'jwtBearer',assertion:{from:'sso'}", sso)?.grant
        == .jwtBearer(.profile(name, isIDToken: false)))
    let plain = try dialect("grant:'exchange',subjectToken:{from:'sso'},audience:'a',resource:'urn:r'", sso)
    #expect(plain?.grant == .exchange(TokenExchange(subject: .profile(name, isIDToken: false))))
    #expect(plain?.audience == "a" && plain?.resource == "urn:r")
    let type = "urn:ietf:params:oauth:token-type:"
    let whole = try dialect(
      "grant:'exchange',subjectToken:{from:'sso'},subjectTokenType:'\(type)id_token',actorToken:{file:'/t'},"
        + "requestedTokenType:'\(type)id-jag'", sso)
    #expect(
      whole?.grant
        == .exchange(
          TokenExchange(
            subject: .profile(name, isIDToken: true), subjectType: type + "id_token", actor: file("actorToken"),
            actorType: type + "jwt", requestedType: type + "id-jag")))
  }

  @Test func `under another grant an assertion is the client's`() throws {
    for grant in ["", ",grant:'clientCredentials'", ",grant:'exchange',subjectToken:{from:'sso'}"] {
      guard case .remote(let remote)? = try configuration("assertion:{file:'/t'}\(grant)", sso).profiles.first?.provider
      else { continue }
      let profile = remote as? OIDCProfileConfiguration
      #expect(
        profile?.clientAssertion
          == .issued(.reference(SecretReference("assertion", .file("/t"), .assertion)), .jwtBearer), "\(grant)")
    }
  }

  @Test(arguments: [
    ("grant:'password'", ["work.grant"]), ("grant:'clientCredentials'", ["work.grant"]),
    ("grant:'jwtBearer'", ["work.assertion"]), ("grant:'exchange'", ["work.subjectToken"]),
    ("grant:'exchange',subjectToken:{from:'gone'}", ["work.subjectToken.from"]),
    ("grant:'exchange',subjectToken:{from:'work'}", ["work.subjectToken.from"]),
    ("grant:'exchange',subjectToken:{from:'sso'},actorToken:{from:'work'}", ["work.actorToken.from"]),
    ("grant:'exchange',subjectToken:{from:'sso',file:'/t'}", ["work.subjectToken"]),
    ("grant:'exchange',subjectToken:{}", ["work.subjectToken"]),
    ("grant:'exchange',subjectToken:'eyJ'", ["work.subjectToken"]),
    ("grant:'exchange',subjectToken:{from:'a b'}", ["work.subjectToken.from"]),
    ("grant:'exchange',subjectToken:{from:'sso'},subjectTokenType:'jwt'", ["work.subjectTokenType"]),
    ("grant:'exchange',subjectToken:{from:'sso'},actorTokenType:'urn:x'", ["work.actorTokenType"]),
    ("grant:'exchange',subjectToken:{from:'sso'},methods:['browser']", ["work.methods"]),
    ("subjectToken:{from:'sso'}", ["work.subjectToken"]), ("requestedTokenType:'urn:x'", ["work.requestedTokenType"]),
    ("assertion:{from:'sso'}", ["work.assertion.from"]),
    ("assertion:{file:'/t'},clientAssertion:{file:'/t'}", ["work.assertion"]),
  ])
  func `what cannot be is a mistake of its own place`(_ text: String, _ paths: [String]) {
    #expect(mistakes(text, sso) == paths, "\(text)")
  }

  @Test func `a circle is found wherever it is entered`() {
    let others =
      ",b:{\(Self.base),grant:'jwtBearer',assertion:{from:'c'}},c:{\(Self.base),grant:'jwtBearer',assertion:{from:'work'}}"
      + ",outside:{\(Self.base),grant:'jwtBearer',assertion:{from:'work'}}"
    let found = mistakes("grant:'jwtBearer',assertion:{from:'b'}", others)
    #expect(found.sorted() == ["b.assertion.from", "c.assertion.from", "work.assertion.from"])
  }
}
