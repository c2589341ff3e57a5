import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// A port that the configuration names: it is one login's at a time.
@Suite(.standardTimeLimit) struct RedirectPortTests {
  /// What became of a login that waits for its browser.
  private typealias Waiting = Task<Result<ProviderSession, ProviderFailure>, Never>

  private static let browser = Credentials(method: .browser)

  /// A place on a port that was free a moment ago.
  ///
  /// It is below the ports that are given to whoever wants any (ip(7), `ip_local_port_range`): no other test is given it
  /// meanwhile.
  private static func freePlace() throws -> LoopbackRedirect {
    let free = (0..<100).lazy.map { _ in UInt16.random(in: 20_000..<32_000) }
      .first { (try? LoopbackSocket.listen(on: .ipv4, port: $0).port) != nil }
    let port = try #require(free)
    return try #require(LoopbackRedirect("http://127.0.0.1:\(port)/callback"))
  }

  /// Runs a test with a provider, and with another one of the same kind: the provider of another profile.
  private static func withTwo(
    _ redirect: LoopbackRedirect, token: @escaping BrowserVisit.Answer = twoTokens,
    _ body: @escaping (OIDCProvider, OIDCProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, issuer in
      request.path == "/token" ? token(request, issuer) : FakeProvider.Reply(200, document(issuer))
    } _: { server in
      let dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      try await withProvider(dialect, redirect: redirect) { first in
        try await withProvider(dialect, redirect: redirect) { try await body(first, $0) }
      }
    }
  }

  @Test func `the name localhost is both addresses: a port that another program has on one of them is not taken`()
    async throws
  {
    let place = try Self.freePlace()
    let redirect = try #require(LoopbackRedirect("http://localhost:\(place.port)/callback"))
    let foreign = try LoopbackSocket.listen(on: .ipv6, port: UInt16(place.port))
    #expect(throws: ProviderFailure.misconfigured(.redirectPort)) {
      try RedirectSocket.open(.name, port: redirect.port)
    }
    foreign.stop()
    _ = consume foreign
    let socket = try RedirectSocket.open(.name, port: redirect.port)
    #expect(throws: Errno.addressInUse) { _ = try LoopbackSocket.listen(on: .ipv6, port: UInt16(place.port)) }
    // A browser may try either address first.
    for address in [LoopbackSocket.Address.ipv6, .ipv4] {
      let browser = try LoopbackSocket.connect(to: address, port: UInt16(place.port))
      #expect(try socket.accept() != nil && socket.accept() == nil)
      _ = consume browser
    }
    socket.stop()
    #expect(throws: Errno.connectionRefused) {
      _ = try LoopbackSocket.connect(to: .ipv6, port: UInt16(place.port)).number
    }
    let successor = try RedirectSocket.open(.name, port: 0)
    #expect(throws: Errno.addressInUse) { _ = try LoopbackSocket.listen(on: .ipv6, port: UInt16(successor.port)) }
    successor.stop()
    _ = try LoopbackSocket.listen(on: .ipv6, port: UInt16(successor.port))
  }

  @Test(arguments: [LoopbackSocket.Address.ipv4, .ipv6])
  func `a login whose redirect names localhost ends by the address that the browser takes`(
    _ address: LoopbackSocket.Address
  ) async throws {
    let redirect = try #require(LoopbackRedirect("http://localhost:0/callback"))
    try await Self.withTwo(redirect) { provider, _ in
      let visit = try await Self.begin(provider)
      let flow = visit.action.flow
      let waiting = Task { () -> Result<ProviderSession, ProviderFailure> in
        do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: flow)) } catch {
          return .failure(error)
        }
      }
      let page = try await visit.open(
        "/callback?code=c&state=\(visit.state)", host: "localhost:\(visit.port)", on: address)
      #expect(page.contains("You're logged in"))
      #expect(try await waiting.value.get().tokens.accessToken.value == secret("at"))
    }
  }

  @Test func `a redirect that names one address is listened for on that one alone`() async throws {
    for host in ["127.0.0.1", "[::1]"] {
      let redirect = try #require(LoopbackRedirect("http://\(host):0/"))
      let socket = try RedirectSocket.open(redirect.host, port: redirect.port)
      #expect(socket.numbers.count == 1)
      socket.stop()
    }
  }

  private static func begin(_ provider: OIDCProvider) async throws -> BrowserVisit {
    try BrowserVisit(#require(try await provider.login(browser).action))
  }

  /// Waits for the browser of a login; somebody does when it returns.
  private static func waiting(for visit: BrowserVisit, _ provider: OIDCProvider) async throws -> Waiting {
    let flow = visit.action.flow
    let waiting = Task { () -> Result<ProviderSession, ProviderFailure> in
      do throws(ProviderFailure) { return .success(try await provider.awaitRedirect(flow: flow)) } catch {
        return .failure(error)
      }
    }
    // The socket listens before: only an answer shows that it is awaited.
    #expect(try await visit.open("/elsewhere").hasPrefix("HTTP/1.1 404 "))
    return waiting
  }

  private static func failure(of waiting: Waiting) async -> ProviderFailure? {
    guard case .failure(let failure) = await waiting.value else { return nil }
    return failure
  }

  /// Comes back with a code, and looks whether that is the end of it.
  private static func finish(_ visit: BrowserVisit, _ waiting: Waiting) async throws {
    let page = try await visit.open("/callback?code=c&state=\(visit.state)")
    #expect(page.contains("You're logged in"))
    #expect(try await waiting.value.get().tokens.accessToken.value == secret("at"))
  }

  @Test func `a port of the user's choice is listened on, and taken over by the next login`() async throws {
    let redirect = try Self.freePlace()
    try await Self.withTwo(redirect) { provider, _ in
      for _ in 0..<2 {
        let visit = try await Self.begin(provider)
        #expect(Int(visit.port) == redirect.port)
      }
    }
  }

  @Test func `the next login has the port although the last one is awaited`() async throws {
    try await Self.withTwo(Self.freePlace()) { provider, _ in
      let first = try await Self.begin(provider)
      let waiting = try await Self.waiting(for: first, provider)
      let second = try await Self.begin(provider)
      #expect(second.port == first.port)
      #expect(await Self.failure(of: waiting) == .transient(.cancelled))
      let next = try await Self.waiting(for: second, provider)
      #expect(try await second.open("/callback?code=c&state=\(first.state)").hasPrefix("HTTP/1.1 400 "))
      // Whoever comes late for the first one does not get the port back.
      let late = await OIDCProviderTests.failure { () throws(ProviderFailure) in
        try await provider.awaitRedirect(flow: first.action.flow)
      }
      #expect(late == .transient(.cancelled))
      try await Self.finish(second, next)
    }
  }

  @Test func `a login whose provider is not there leaves the last one alone`() async throws {
    let isThere = Atomic(true)
    let uptime = Atomic<Int>(0)
    let redirect = try Self.freePlace()
    try await FakeProvider.run { request, issuer in
      guard request.path != "/token" else { return twoTokens(request, issuer) }
      return isThere.load(ordering: .relaxed) ? FakeProvider.Reply(200, document(issuer)) : FakeProvider.Reply(503, "")
    } _: { server in
      try await withProvider(
        OIDCDialect(type: "oidc", issuer: server.issuer), redirect: redirect,
        uptime: { .seconds(uptime.load(ordering: .relaxed)) }
      ) { provider in
        let first = try await Self.begin(provider)
        let waiting = try await Self.waiting(for: first, provider)
        isThere.store(false, ordering: .relaxed)
        uptime.store(366 * 86_400, ordering: .relaxed)
        let failure = await OIDCProviderTests.failure { () throws(ProviderFailure) in
          try await provider.login(Self.browser)
        }
        #expect(failure == .transient(.providerUnavailable))
        isThere.store(true, ordering: .relaxed)
        try await Self.finish(first, waiting)
      }
    }
  }

  @Test func `a login whose browser has come goes on beside the next one`() async throws {
    let isAsked = Atomic(false)
    let mayAnswer = Atomic(false)
    let token: BrowserVisit.Answer = { request, issuer in
      isAsked.store(true, ordering: .relaxed)
      _ = Patience.wait { mayAnswer.load(ordering: .relaxed) }
      return twoTokens(request, issuer)
    }
    try await Self.withTwo(Self.freePlace(), token: token) { provider, _ in
      let first = try await Self.begin(provider)
      let waiting = try await Self.waiting(for: first, provider)
      async let page = first.open("/callback?code=c&state=\(first.state)")
      #expect(try await OwnThread.run { Patience.wait { isAsked.load(ordering: .relaxed) } })
      let second = try await Self.begin(provider)
      mayAnswer.store(true, ordering: .relaxed)
      #expect(try await page.contains("You're logged in"))
      #expect(try await waiting.value.get().tokens.accessToken.value == secret("at"))
      try await Self.finish(second, Self.waiting(for: second, provider))
    }
  }

  @Test func `a trial leaves the port to the login that has it`() async throws {
    try await Self.withTwo(Self.freePlace()) { provider, _ in
      let first = try await Self.begin(provider)
      let waiting = try await Self.waiting(for: first, provider)
      var trial = Self.browser
      trial.replacesPending = false
      let credentials = trial
      let failure = await OIDCProviderTests.failure { () throws(ProviderFailure) in
        try await provider.login(credentials)
      }
      #expect(failure == .misconfigured(.redirectPort))
      try await Self.finish(first, waiting)
    }
  }

  @Test func `the login of another profile keeps its port, and whoever wants it is told so`() async throws {
    try await Self.withTwo(Self.freePlace()) { provider, other in
      let own = try await Self.begin(provider)
      let waiting = try await Self.waiting(for: own, provider)
      let begun = await OIDCProviderTests.failure { () throws(ProviderFailure) in try await other.login(Self.browser) }
      #expect(begun == .misconfigured(.redirectPort))
      // As one that was begun by another process, and is taken up again.
      let flow = own.action.flow
      let awaited = await OIDCProviderTests.failure { () throws(ProviderFailure) in
        try await other.awaitRedirect(flow: flow)
      }
      #expect(awaited == .misconfigured(.redirectPort))
      try await Self.finish(own, waiting)
    }
  }

  @Test func `a port that another program has is not taken away`() async throws {
    let program = try LoopbackSocket.listen(on: .ipv4, port: 0)
    let redirect = try #require(LoopbackRedirect("http://127.0.0.1:\(program.port)/"))
    try await Self.withTwo(redirect) { provider, _ in
      let failure = await OIDCProviderTests.failure { () throws(ProviderFailure) in
        try await provider.login(Self.browser)
      }
      #expect(failure == .misconfigured(.redirectPort))
    }
    #expect(try LoopbackSocket.connect(to: .ipv4, port: UInt16(program.port)).number >= 0)
  }
}
