import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// A server behind TLS: whom a provider talks to, and whom it does not.
@Suite(.standardTimeLimit) struct CertificateTests {
  @Test func `only a certificate that is right in every respect gets a password`() async throws {
    try await Party.run(["--tls"]) { party in
      let right = try Credentials.alice()
      for mode in ["unknown-ca", "expired", "wrong-host", "self-signed"] {
        try await party.set(#"{"tlsMode":"\#(mode)"}"#)
        let provider = try party.provider()
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(right) }?.kind == .tlsFailed,
          "\(mode)")
      }
      let requests = try await party.ledger()
      #expect(try requests.allSatisfy { try $0.required("endpoint").string() == "handshake" }, "nothing was said")
      try await party.set(#"{"tlsMode":"ok"}"#)
      let stranger = try party.provider(tls: TLSPolicy())
      #expect(
        await failure { () throws(ProviderFailure) in try await stranger.login(right) }?.kind == .tlsFailed,
        "the machine's authorities do not know this one")
      #expect(try await party.provider().login(right).session != nil)
    }
  }

  @Test func `a session survives that a server cannot be trusted for a while`() async throws {
    try await Party.run(["--tls"]) { party in
      let token = try #require(try await party.provider().login(.alice()).session?.tokens.refreshToken)
      try await party.set(#"{"tlsMode":"expired"}"#)
      let provider = try party.provider()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }?.kind == .tlsFailed)
      try await party.set(#"{"tlsMode":"ok"}"#)
      #expect(try await provider.refresh(token).refreshToken != nil)
    }
  }

  @Test func `a key that is pinned is the only one that is spoken to`() async throws {
    try await Party.run(["--tls"]) { party in
      let right = try Credentials.alice()
      let pin = try #require(party.places["pin"])
      let backup = try #require(party.places["backupPin"])
      let other = "sha256//" + String(repeating: "A", count: 43) + "="
      let wrong = try party.provider(tls: try party.policy(pins: [backup, other]))
      #expect(
        await failure { () throws(ProviderFailure) in try await wrong.login(right) } == .transient(.tlsPinMismatch))
      #expect(
        try await party.ledger().allSatisfy {
          try $0.required("endpoint").string() == "handshake"
        })
      let pinned = try party.provider(tls: try party.policy(pins: [backup, pin]))
      let token = try #require(try await pinned.login(right).session?.tokens.refreshToken)
      _ = try await pinned.refresh(token)
    }
  }
}
