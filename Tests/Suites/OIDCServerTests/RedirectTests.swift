import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import OIDCDialect
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Logins by a code and its proof: a scripted person's browser follows each redirect by hand and comes back to the
/// listener.
@Suite(.standardTimeLimit) struct RedirectTests {
  /// A login that waits for its browser.
  private struct Waiting {
    let action: ProviderUserAction
    let result: Task<Result<ProviderSession, ProviderFailure>, Never>
    /// Where the browser comes back to, without a query.
    let callback: String
  }

  private func begin(_ provider: OIDCProvider) async throws -> Waiting {
    let action = try #require(try await provider.login(Credentials(method: .browser)).action)
    let flow = action.flow
    let task = Task { () -> Result<ProviderSession, ProviderFailure> in
      do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: flow)) } catch {
        return .failure(error)
      }
    }
    let query = action.verificationURI.split(separator: "&").first { $0.hasPrefix("redirect_uri=") } ?? ""
    let callback = query.dropFirst("redirect_uri=".count).replacing("%3A", with: ":").replacing("%2F", with: "/")
    return Waiting(action: action, result: task, callback: String(callback))
  }

  private func text(_ node: JSONNode?) -> String { (try? node?.string()) ?? "" }

  @Test(arguments: [[], ["--tls"]])
  func `a browser comes back with a code, and shows that all is well`(_ options: [String]) async throws {
    try await Party.run(options) { party in
      let provider = try party.provider()
      let login = try await begin(provider)
      #expect(login.callback.hasPrefix("http://127.0.0.1:") && login.callback.hasSuffix("/callback"))
      let way = try await party.browse(login.action.verificationURI)
      let session = try await login.result.value.get()
      #expect(session.user?.email == "alice@example.com")
      let landing = try way.required("landing")
      #expect(try landing.required("status").integer() == 200)
      let page = text(landing["page"])
      let location = text(way["location"])
      let code = location.split(separator: "code=").last?.prefix { $0 != "&" } ?? ""
      #expect(code.count > 10 && location.contains("state="))
      #expect(page.contains("<html") && !page.contains(code), "the page has nothing of the answer in it")
      #expect(!page.contains("http://") && !page.contains("https://"), "and nothing from elsewhere")
      let caching = text(landing["fields"]?["cache-control"])
      #expect(caching.contains("no-store"))
      // Whoever comes again finds nobody there.
      #expect(try await party.visit(location)["refused"] != nil)
      #expect(try await party.ledger("authorize", "challengeMethod").first == "S256")
      #expect(try await party.ledger("token", "grantType") == ["authorization_code"])
      #expect(
        try await party.ledger("token")[0].required("bodyNames").elements().contains {
          try $0.string() == "code_verifier"
        })
      let token = try #require(session.tokens.refreshToken)
      #expect(try await provider.refresh(token).refreshToken != token)
    }
  }

  @Test func `a person says no`() async throws {
    // This server names its issuer in good answers only, which would be refused (RFC 9207, section 2.4).
    try await Party.run(["--set", "authorizationResponseIss=false"]) { party in
      let login = try await begin(try party.provider())
      let way = try await party.browse(login.action.verificationURI, #","decision":"deny""#)
      #expect(await login.result.value.failure == .refused(.consentDenied))
      let landing = try way.required("landing")
      #expect(text(way["location"]).contains("error=access_denied"))
      #expect(text(landing["page"]).contains("<html") && !text(landing["page"]).contains("access_denied"))
      #expect(try await party.visit(login.callback)["refused"] != nil)
      #expect(try await party.ledger("token").isEmpty)
    }
  }

  @Test func `an answer to another login is not taken, and the right one still is`() async throws {
    try await Party.run { party in
      let login = try await begin(try party.provider())
      let way = try await party.browse(login.action.verificationURI, #","deliver":false"#)
      let location = text(way["location"])
      let state = location.split(separator: "state=").last?.prefix { $0 != "&" } ?? ""
      let forged = location.replacing("state=\(state)", with: "state=forged")
      for url in [forged, login.callback, login.callback + "?code=x", login.callback + "x?state=\(state)&code=x"] {
        let shown = try await party.visit(url)
        #expect(try shown.required("status").integer() >= 400, "\(url)")
        #expect(!text(shown["page"]).contains("forged"))
      }
      #expect(try await party.ledger("token").isEmpty, "no code was exchanged")
      #expect(try await party.visit(location).required("status").integer() == 200)
      #expect(try await login.result.value.get().user?.email == "alice@example.com")
    }
  }

  @Test func `a code that was used already, and an answer from another issuer, give no session`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let first = try await begin(provider)
      let used = text(try await party.browse(first.action.verificationURI)["location"])
      _ = try await first.result.value.get()
      let second = try await begin(provider)
      let fresh = text(try await party.browse(second.action.verificationURI, #","deliver":false"#)["location"])
      let usedCode = used.split(separator: "code=").last?.prefix { $0 != "&" } ?? ""
      let freshCode = fresh.split(separator: "code=").last?.prefix { $0 != "&" } ?? ""
      let shown = try await party.visit(fresh.replacing("code=\(freshCode)", with: "code=\(usedCode)"))
      #expect(await second.result.value.failure == .refused(.flowNotFound))
      #expect(text(shown["page"]).contains("<html"))
      #expect(try await party.visit(second.callback)["refused"] != nil)
      let third = try await begin(provider)
      let location = text(try await party.browse(third.action.verificationURI, #","deliver":false"#)["location"])
      let issuer = location.split(separator: "iss=").last?.prefix { $0 != "&" } ?? ""
      #expect(!issuer.isEmpty)
      let mixedUp = location.replacing("iss=\(issuer)", with: "iss=https%3A%2F%2Fevil.example.com")
      _ = try await party.visit(mixedUp)
      #expect(await third.result.value.failure == .refused(.invalidResponse))
    }
  }

  @Test func `what is asked for and never given is told apart from other mistakes`() async throws {
    // This server names its issuer in good answers only, which would be refused (RFC 9207, section 2.4).
    try await Party.run(["--set", "authorizationResponseIss=false"]) { party in
      let login = try await begin(try party.provider(scopes: ["openid", "unheard-of"]))
      let way = try await party.browse(login.action.verificationURI)
      #expect(text(way["location"]).contains("error=invalid_scope"))
      #expect(await login.result.value.failure == .misconfigured(.scopes))
    }
  }

  @Test func `a login on a port of the user's choice is replaced by the next one`() async throws {
    try await Party.run { party in
      // Below the ports that are given to whoever wants any (ip(7), ip_local_port_range).
      let free = (0..<100).lazy.map { _ in UInt16.random(in: 20_000..<32_000) }
        .first { (try? LoopbackSocket.listen(on: .ipv4, port: $0).port) != nil }
      let port = try #require(free)
      let provider = try party.provider(
        redirect: #require(LoopbackRedirect("http://127.0.0.1:\(port)/callback")))
      let first = try await begin(provider)
      #expect(try await party.visit(first.callback)["status"] != nil, "it is awaited")
      let second = try await begin(provider)
      #expect(await first.result.value.failure == .transient(.cancelled))
      #expect(second.callback == first.callback)
      _ = try await party.browse(second.action.verificationURI)
      #expect(try await second.result.value.get().user?.email == "alice@example.com")
    }
  }

  @Test func `a login that is called off listens no more`() async throws {
    try await Party.run { party in
      let login = try await begin(try party.provider())
      login.result.cancel()
      #expect(await login.result.value.failure == .transient(.cancelled))
      #expect(try await party.visit(login.callback)["refused"] != nil)
    }
  }
}

extension Result {
  /// The failure; nil where there is none.
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { return failure }
    return nil
  }
}
