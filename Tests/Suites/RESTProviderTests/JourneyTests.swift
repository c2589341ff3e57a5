import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

/// The life of a session at a real backend, in every shape of its replies, without any mapping.
@Suite(.standardTimeLimit) struct JourneyTests {
  static let shapes = ["nested", "objects", "oauth", "camel"]

  @Test(arguments: shapes)
  func `login, refresh and logout`(_ shape: String) async throws {
    try await Backend.run(["--shape", shape, "--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let before = Timestamp(milliseconds: WallClock.milliseconds)
        let session = try #require(try await provider.login(.ann()).session)
        let after = Timestamp(milliseconds: WallClock.milliseconds)
        #expect(session.user == User(id: "user-1", email: "ann@example.com", emailVerified: true, name: "Ann"))
        let end = session.tokens.accessTokenExpiresAt
        #expect((end != nil) == (shape != "nested"))
        if let end { #expect(end >= before + .seconds(899) && end <= after + .seconds(901)) }
        #expect((session.tokens.refreshTokenExpiresAt != nil) == (shape == "objects"))
        #expect(session.tokens.scopes == (shape == "nested" ? [] : ["read", "write"]))
        let refreshToken = try #require(session.tokens.refreshToken)
        let refreshed = try await provider.refresh(refreshToken)
        #expect(refreshed.accessToken != session.tokens.accessToken)
        #expect(refreshed.refreshToken != nil && refreshed.refreshToken != refreshToken)
        #expect(try await provider.currentUser(accessToken: refreshed.accessToken) == session.user)
        try await provider.revoke(refreshed, everywhere: false)
        #expect(
          await failure { () throws(ProviderFailure) in
            try await provider.refresh(refreshed.refreshToken ?? refreshToken)
          }
            == .sessionEnded(.refreshRejected))
      }
      #expect(
        try await backend.ledger("refresh").map { try $0.required("outcome").string() } == ["rotated", "refused"])
      #expect(try await backend.ledger("logout").count == 1)
      for request in try await backend.ledger("request") {
        let endpoint = try request.required("endpoint").string()
        let scheme = try request.required("authorization").string()
        #expect(scheme == (endpoint == "getCurrentUser" ? "bearer" : "none"))
      }
    }
  }

  @Test(arguments: shapes)
  func `tokens of sixty thousand bytes are tokens`(_ shape: String) async throws {
    try await Backend.run(["--shape", shape, "--account", ann, "--set", "tokenByteCount=60000"]) { backend in
      try await withProvider(backend) { provider in
        let session = try #require(try await provider.login(.ann()).session)
        let refreshToken = try #require(session.tokens.refreshToken)
        #expect(session.tokens.accessToken.value.byteCount == 60_000 && refreshToken.value.byteCount == 60_000)
        let refreshed = try await provider.refresh(refreshToken)
        #expect(refreshed.accessToken.value.byteCount == 60_000 && refreshed.accessToken != session.tokens.accessToken)
        #expect(refreshed.refreshToken?.value.byteCount == 60_000 && refreshed.refreshToken != refreshToken)
      }
    }
  }

  @Test(arguments: shapes)
  func `a code stands between password and session`(_ shape: String) async throws {
    try await Backend.run(["--shape", shape, "--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let challenge = try #require(try await provider.login(.ann()).challenge)
        #expect(challenge.method == .sms && challenge.otpLength == 6 && challenge.attemptsRemaining == 5)
        #expect(challenge.maskedDestination == "********0123" && challenge.backupCodesAllowed)
        let wrong = try Secret(utf8: "x")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: challenge.flow, code: wrong)
          }
            == .refused(.otpInvalid, attemptsRemaining: 4))
        let code = try await backend.code()
        let session = try await provider.verifyOTP(flow: challenge.flow, code: code)
        #expect(session.user?.phoneNumberMasked == "+•••••••••23")
        #expect(session.tokens.refreshToken != nil)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: challenge.flow, code: code) }
            == .refused(.flowNotFound))
      }
    }
  }
}
