import BrokerCore
import BrokerProtocol
import JOSE
import JSON
import ProviderKit
import SecretMemory
import Signing
import Synchronization
import TestSupport
import Testing
import TextCoding

@testable import OIDCProvider

/// Tokens that are bound to a key of their session (RFC 9449): what is sent, and what is made of the answers.
@Suite(.standardTimeLimit) struct ProofTests {
  private static let tokens =
    #"{"access_token":"a","refresh_token":"r","token_type":"DPoP","expires_in":60,"scope":"read"}"#
  private static let json = "Content-Type: application/json"
  private static let date = "Date: Tue, 14 Nov 2023 22:13:20 GMT"
  private static let serverTime: Int64 = 1_700_000_000
  private static let demand = FakeProvider.Reply(400, #"{"error":"use_dpop_nonce"}"#, [json, "DPoP-Nonce: n1"])

  /// Runs a test with a provider whose tokens are to be bound.
  private func run(
    binds: Bool = true, clock: (@Sendable () -> Int64)? = nil,
    answer: @escaping @Sendable (FakeProvider.Request, ProofClaims?) -> FakeProvider.Reply,
    _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, issuer in
      if request.path == "/.well-known/openid-configuration" { return FakeProvider.Reply(200, document(issuer)) }
      return request.path == "/userinfo" && request.fields["dpop"] == nil
        ? .notFound : answer(request, ProofClaims(request))
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: ["read"])
      dialect.bindsTokens = binds
      let time = clock.map { seconds in { @Sendable in Timestamp(milliseconds: seconds() * 1000) } }
      try await withProvider(dialect, clock: time) { try await body($0, server) }
    }
  }

  private func session(_ provider: OIDCProvider) async throws -> ProviderSession {
    try #require(try await provider.login(try .ann()).session)
  }

  @Test func `each request has a proof of its own, by the session's key`() async throws {
    try await run { _, _ in
      FakeProvider.Reply(200, Self.tokens)
    } _: { provider, server in
      let session = try await session(provider)
      #expect(session.tokens.accessToken.kind == .proven && session.tokens.refreshToken?.kind == .proven)
      let key = try #require(session.tokens.accessToken.key)
      let next = try await provider.refresh(try #require(session.tokens.refreshToken))
      #expect(next.accessToken.key == key && next.refreshToken?.key == key)
      let proofs = server.requests(at: "/token").compactMap { ProofClaims($0) }
      #expect(proofs.count == 2 && Set(proofs.map(\.identifier)).count == 2)
      #expect(try proofs.allSatisfy { try $0.thumbprint == key.thumbprint() })
      #expect(proofs.allSatisfy { $0.method == "POST" && $0.address == server.issuer + "/token" && $0.hash == nil })
      let other = try await self.session(provider)
      #expect(other.tokens.accessToken.key != key, "no two sessions share a key")
    }
  }

  @Test func `a login is sent again for its nonce, which is used until another is given`() async throws {
    try await run { _, proof in
      switch proof?.nonce {
      case nil: Self.demand
      case "n1": FakeProvider.Reply(200, Self.tokens, [Self.json, "DPoP-Nonce: n2"])
      default: FakeProvider.Reply(200, Self.tokens)
      }
    } _: { provider, server in
      let session = try await session(provider)
      for _ in 1...2 { _ = try await provider.refresh(try #require(session.tokens.refreshToken)) }
      let proofs = server.requests(at: "/token").compactMap { ProofClaims($0) }
      #expect(proofs.map(\.nonce) == [nil, "n1", "n2", "n2"])
      #expect(Set(proofs.map(\.identifier)).count == 4)
    }
  }

  @Test(arguments: [400, 401, 403])
  func `a refresh token is not sent again before its owner says so`(_ status: Int) async throws {
    try await run { request, proof in
      request.form["grant_type"] == "refresh_token" && proof?.nonce != "n1"
        ? FakeProvider.Reply(status, #"{"error":"use_dpop_nonce"}"#, [Self.json, "DPoP-Nonce: n1"])
        : FakeProvider.Reply(200, Self.tokens)
    } _: { provider, server in
      let token = try #require(try await session(provider).tokens.refreshToken)
      let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(refusal == .transient(.providerUnavailable, cause: .proofWanted))
      #expect(server.requests(at: "/token").count == 2)
      #expect(try await provider.refresh(token).accessToken.kind == .proven)
      #expect(server.requests(at: "/token").count == 3)
    }
  }

  @Test func `a server that is never content is asked a few times`() async throws {
    try await run { _, _ in
      Self.demand
    } _: { provider, server in
      let credentials = try Credentials.ann()
      let refusal = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
      #expect(refusal == .transient(.providerUnavailable, cause: .proofWanted))
      #expect(server.requests(at: "/token").count == ProofBench.mostTries)
    }
  }

  @Test(arguments: [3600, -3600])
  func `a refused proof sets the clock by the server's, once`(_ ahead: Int) async throws {
    let clock: @Sendable () -> Int64 = { Self.serverTime - Int64(ahead) }
    try await run(clock: clock) { _, proof in
      proof?.issuedAt == Self.serverTime
        ? FakeProvider.Reply(200, Self.tokens, [Self.json, Self.date])
        : FakeProvider.Reply(403, #"{"error":"invalid_dpop_proof"}"#, [Self.json, Self.date])
    } _: { provider, server in
      let session = try await session(provider)
      _ = try await provider.refresh(try #require(session.tokens.refreshToken))
      #expect(server.requests(at: "/token").count == 3)
    }
  }

  @Test func `a clock that is set right afterwards is followed`() async throws {
    let behind = SharedCount(3600)
    let clock: @Sendable () -> Int64 = { Self.serverTime - Int64(behind.value) }
    try await run(clock: clock) { _, proof in
      proof?.issuedAt == Self.serverTime
        ? FakeProvider.Reply(200, Self.tokens, [Self.json, Self.date])
        : FakeProvider.Reply(400, #"{"error":"invalid_dpop_proof"}"#, [Self.json, Self.date])
    } _: { provider, server in
      _ = try await session(provider)
      behind.set(0)
      _ = try await session(provider)
      #expect(server.requests(at: "/token").count == 4)
    }
  }

  @Test(arguments: [nil, 3600])
  func `a proof that is refused by any clock is a fault of the configuration`(_ ahead: Int?) async throws {
    let clock: @Sendable () -> Int64 = { Self.serverTime - Int64(ahead ?? 0) }
    try await run(clock: clock) { request, _ in
      request.form["grant_type"] == "password"
        ? FakeProvider.Reply(200, Self.tokens)
        : FakeProvider.Reply(400, #"{"error":"invalid_dpop_proof"}"#, [Self.json, Self.date])
    } _: { provider, server in
      let token = try #require(try await session(provider).tokens.refreshToken)
      var refusals: [ProviderFailure?] = []
      for _ in 0..<(ahead == nil ? 1 : 2) {
        refusals.append(await failure { () throws(ProviderFailure) in try await provider.refresh(token) })
      }
      #expect(refusals.last == .misconfigured(.possession))
      #expect(ahead == nil || refusals.first == .transient(.providerUnavailable, cause: .proofWanted))
      #expect(server.requests(at: "/token").count == 1 + refusals.count)
    }
  }

  @Test(arguments: [#","token_type":"Bearer""#, ""])
  func `tokens that are not bound are not taken`(_ type: String) async throws {
    let unbound = #"{"access_token":"b","refresh_token":"r2","expires_in":60\#(type)}"#
    try await run { request, _ in
      FakeProvider.Reply(200, request.form["grant_type"] == "password" ? Self.tokens : unbound)
    } _: { provider, _ in
      let first = try #require(try await session(provider).tokens.refreshToken)
      let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(first) }
      guard case .rotated(let rotated) = refusal else { return #expect(Bool(false), "\(refusal as Any)") }
      #expect(rotated.refreshToken.key == first.key, "the next refresh token is kept, with its key")
      #expect(rotated.rejection.isUnbound)
      let bare = BoundToken(first.value)
      let other = await failure { () throws(ProviderFailure) in try await provider.refresh(bare) }
      guard case .rotated(let rotatedBare) = other else { return #expect(Bool(false), "\(other as Any)") }
      #expect(rotatedBare.refreshToken.key == nil, "a session without a key gets none here")
      #expect(rotated.rejection.said == .unbound(type.isEmpty ? nil : ProviderWord("Bearer")))
    }
  }

  @Test func `a browser's login names the key, and keeps it`() async throws {
    try await run { _, _ in
      FakeProvider.Reply(200, Self.tokens)
    } _: { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      guard case .redirect(let flow)? = try PendingFlow(action.flow) else { return #expect(Bool(false)) }
      #expect(try visit.query["dpop_jkt"] == flow.key?.thumbprint())
    }
  }

  @Test func `without the setting nothing is bound`() async throws {
    try await run(binds: false) { _, _ in
      FakeProvider.Reply(200, #"{"access_token":"a","refresh_token":"r","token_type":"Bearer","expires_in":60}"#)
    } _: { provider, server in
      let session = try await session(provider)
      #expect(session.tokens.accessToken.kind == .bearer && session.tokens.refreshToken?.key == nil)
      #expect(server.requests(at: "/token").allSatisfy { $0.fields["dpop"] == nil })
    }
  }

  @Test func `a session without a key gets one with its next tokens, and one with a key keeps it`() async throws {
    try await run { request, proof in
      FakeProvider.Reply(200, proof == nil ? #"{"error":"no proof"}"# : Self.tokens)
    } _: { provider, _ in
      let bound = try await provider.refresh(BoundToken(try secret("r")))
      #expect(bound.accessToken.kind == .proven && bound.refreshToken?.key == bound.accessToken.key)
    }
    try await run(binds: false) { _, proof in
      FakeProvider.Reply(200, proof == nil ? #"{"error":"no proof"}"# : Self.tokens)
    } _: { provider, _ in
      let key = try ProofKey.random()
      #expect(try await provider.refresh(BoundToken(try secret("r")).bound(to: key)).accessToken.key == key)
    }
  }

  @Test func `the user is asked for with a proof that names the token, and with the server's other nonce`() async throws
  {
    let challenge = ["WWW-Authenticate: DPoP error=\"use_dpop_nonce\"", "DPoP-Nonce: r1"]
    try await run { request, proof in
      guard request.path == "/userinfo" else {
        return FakeProvider.Reply(200, Self.tokens, [Self.json, "DPoP-Nonce: n1"])
      }
      return proof?.nonce == "r1" ? FakeProvider.Reply(200, #"{"sub":"ann"}"#) : FakeProvider.Reply(401, "", challenge)
    } _: { provider, server in
      let session = try await session(provider)
      #expect(session.user?.id == "ann")
      let asked = server.requests(at: "/userinfo")
      #expect(asked.compactMap { ProofClaims($0)?.nonce } == ["r1"] && asked.count == 2)
      // SHA-256 of "a", the token, in base64url.
      #expect(asked.allSatisfy { ProofClaims($0)?.hash == "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs" })
      #expect(asked.allSatisfy { $0.fields["authorization"] == "DPoP a" })
    }
  }
}

/// A number that a test changes while a provider reads it.
private final class SharedCount: Sendable {
  private let count: Mutex<Int>

  init(_ count: Int) { self.count = Mutex(count) }

  var value: Int { count.withLock { $0 } }

  func set(_ value: Int) { count.withLock { $0 = value } }
}

/// What a proof says, read without what has made it.
struct ProofClaims {
  let identifier: String
  let method: String
  let address: String
  let issuedAt: Int64
  let hash: String?
  let nonce: String?
  let thumbprint: String

  /// The proof of a request; nil where it has none.
  init?(_ request: FakeProvider.Request) {
    guard let text = request.fields["dpop"] else { return nil }
    self.init(text)
  }

  init?(_ text: String) {
    let parts = text.split(separator: ".").compactMap { Base64.decodeURLForm(Array($0.utf8).span) }
    guard parts.count == 3, let header = try? JSONDocument(parsing: parts[0]).root,
      let payload = try? JSONDocument(parsing: parts[1]).root,
      (try? header["typ"]?.string()) == "dpop+jwt", (try? header["alg"]?.string()) == "ES256",
      let key = header["jwk"], key["d"] == nil, let thumbprint = Self.thumbprint(key),
      let identifier = try? payload.required("jti").string(), let method = try? payload.required("htm").string(),
      let address = try? payload.required("htu").string(), let issuedAt = try? payload.required("iat").integer()
    else { return nil }
    (self.identifier, self.method, self.address, self.issuedAt) = (identifier, method, address, Int64(issuedAt))
    hash = try? payload["ath"]?.string()
    nonce = try? payload["nonce"]?.string()
    self.thumbprint = thumbprint
  }

  private static func thumbprint(_ key: JSONNode) -> String? {
    guard let x = try? key.required("x").string(), let y = try? key.required("y").string(),
      let across = Base64.decodeURLForm(Array(x.utf8).span), let up = Base64.decodeURLForm(Array(y.utf8).span)
    else { return nil }
    return VerificationKey.p256(x: across, y: up).thumbprint
  }
}
