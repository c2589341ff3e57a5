import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
import JSON
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import RESTProvider

/// Refresh tokens that live in cookies.
@Suite(.standardTimeLimit) struct CookieTests {
  private func mapping(_ reply: String) throws(ConfigurationError) -> RESTMapping {
    let profile = "provider:'rest',baseUrl:'https://api.example.com',mapping:{reply:{\(reply)}}"
    let configuration = try BrokerConfiguration.parse(
      Array("{profiles:{shop:{\(profile)}}}".utf8), file: "c", environment: [:])
    guard case .remote(let remote)? = configuration.profiles.first?.provider,
      let profile = remote as? RESTProfileConfiguration
    else { preconditionFailure("the provider is a backend") }
    return profile.mapping
  }

  @Test func `a session is refreshed by its cookie, which is in no body, and ended by it`() async throws {
    let mapping = try mapping("refreshToken:'cookie:rt.1'")
    let arguments = ["--set", "refreshCookie=rt.1", "--set", "shape=oauth", "--account", ann]
    try await Backend.run(arguments) { backend in
      try await withProvider(backend, mapping: mapping) { provider in
        let session = try #require(try await provider.login(.ann()).session)
        let first = try #require(session.tokens.refreshToken)
        let second = try await provider.refresh(first)
        let token = try #require(second.refreshToken)
        #expect(token != first && second.accessToken != session.tokens.accessToken)
        try await provider.revoke(second, everywhere: false)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .sessionEnded(.refreshRejected))
        for entry in try await backend.ledger("request") {
          let name = try entry.required("endpoint").string()
          let isOfSession = ["refresh", "logout"].contains(name)
          #expect(try entry.required("cookie").bool() == isOfSession, "\(name)")
          #expect(try !isOfSession || entry.required("bodyBytes").integer() == 0, "\(name)")
        }
      }
    }
  }

  @Test func `only a refresh token can be in a cookie, and the cookie has a name`() {
    #expect(throws: ConfigurationError.self) { try mapping("accessToken:'cookie:at'") }
    for name in ["", "a b", "a;b", "a=b"] {
      #expect(throws: ConfigurationError.self) { try mapping("refreshToken:'cookie:\(name)'") }
    }
    #expect(throws: Never.self) { try mapping("refreshToken:['cookie:rt','refresh_token']") }
  }
}
