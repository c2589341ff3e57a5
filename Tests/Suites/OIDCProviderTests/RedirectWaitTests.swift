import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// How long a browser is awaited, and by whom.
@Suite(.standardTimeLimit) struct RedirectWaitTests {
  @Test func `slow and silent connections hold nobody up`() async throws {
    let (result, _) = try await loginInBrowser { visit, _ in
      // More than are kept: the oldest are given up.
      let silent = try (0..<10).map { _ in try HeldConnection(port: visit.port) }
      let slow = try HeldConnection(port: visit.port)
      try slow.send("GET /callback?code=c&state=")
      let page = try await visit.open("/callback?code=c&state=\(visit.state)")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(silent.count == 10)
    }
    #expect(throws: Never.self) { try result.get() }
  }

  @Test func `a request that comes byte by byte is understood`() async throws {
    let (result, _) = try await loginInBrowser { visit, _ in
      let held = try HeldConnection(port: visit.port)
      let request = "GET /callback?code=c&state=\(visit.state) HTTP/1.1\r\nHost: 127.0.0.1:\(visit.port)\r\n\r\n"
      for byte in request { try held.send(String(byte)) }
      #expect(try await held.rest().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
    #expect(throws: Never.self) { try result.get() }
  }

  @Test func `a wait that is called off ends at once, and nobody listens any more`() async throws {
    try await withProvider(answer: twoTokens) { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let port = try BrowserVisit(action).port
      let waiting = Task {
        await failure { () throws(ProviderFailure) in try await provider.awaitRedirect(flow: action.flow) }
      }
      waiting.cancel()
      #expect(await waiting.value == .transient(.cancelled))
      // Another test's server may have been given the port meanwhile: it ends with its test.
      func connects() -> Bool { (try? LoopbackSocket.connect(to: .ipv4, port: port)) != nil }
      while connects(), BootClock.now < Patience.end { try await Task.sleep(for: .milliseconds(20)) }
      #expect(throws: Errno.connectionRefused) { _ = try LoopbackSocket.connect(to: .ipv4, port: port).number }
    }
  }

  @Test func `another process goes on with the handle alone`() async throws {
    let action = Mutex<ProviderUserAction?>(nil)
    try await FakeProvider.run { request, issuer in
      request.path == "/token" ? twoTokens(request, issuer) : FakeProvider.Reply(200, document(issuer))
    } _: { server in
      let dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      try await withProvider(dialect) { provider in
        let found = try await provider.login(Credentials(method: .browser)).action
        action.withLock { $0 = found }
      }
      let begun = try #require(action.withLock { $0 })
      try await withProvider(dialect) { provider in
        let visit = try BrowserVisit(begun)
        let waiting = Task { try await provider.awaitRedirect(flow: begun.flow) }
        // It listens again on the same port, as soon as its thread runs.
        var page: String?
        while page == nil { page = try? await visit.open("/callback?code=c&state=\(visit.state)") }
        #expect(page?.contains("You're logged in") == true)
        #expect(try await waiting.value.tokens.accessToken.value == secret("at"))
      }
    }
  }

  @Test func `a wait that is given up while its code is exchanged brings the session all the same`() async throws {
    let isAsked = Atomic(false)
    let isGivenUp = Atomic(false)
    let withoutOpenID: @Sendable (inout OIDCDialect) -> Void = { $0.scopes = ["a"] }
    try await withProvider(withoutOpenID) { request, _ in
      guard request.path == "/token" else { return .notFound }
      isAsked.store(true, ordering: .releasing)
      _ = Patience.wait { isGivenUp.load(ordering: .acquiring) }
      return FakeProvider.Reply(200, #"{"access_token":"at"}"#)
    } _: { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      let waiting = Task { try await provider.awaitRedirect(flow: action.flow) }
      async let page = visit.open("/callback?code=c&state=\(visit.state)")
      while !isAsked.load(ordering: .acquiring) { await Task.yield() }
      waiting.cancel()
      isGivenUp.store(true, ordering: .releasing)
      #expect(try await waiting.value.tokens.accessToken.value == secret("at"))
      _ = try? await page
    }
  }

  @Test func `a login that nobody finishes ends`() async throws {
    let now = Atomic<Int>(1_800_000_000_000)
    try await FakeProvider.run { request, issuer in
      FakeProvider.Reply(200, document(issuer))
    } _: { server in
      try await withProvider(
        OIDCDialect(type: "oidc", issuer: server.issuer),
        clock: { Timestamp(milliseconds: Int64(now.load(ordering: .relaxed))) }
      ) { provider in
        let action = try #require(try await provider.login(Credentials(method: .browser)).action)
        #expect(action.expiresAt - provider.clock() == .seconds(600))
        now.add(600_001, ordering: .relaxed)
        let flow = action.flow
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.awaitRedirect(flow: flow) }
            == .refused(.otpExpired))
      }
    }
  }
}
