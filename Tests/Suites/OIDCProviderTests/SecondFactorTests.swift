import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// A second factor beside a password, in the shapes that Auth0's documentation shows.
@Suite(.standardTimeLimit) struct SecondFactorTests {
  private static let tokens = FakeProvider.Reply(
    200, #"{"access_token":"at","refresh_token":"v1.made-up","expires_in":86400,"token_type":"Bearer"}"#)
  private static let required = FakeProvider.Reply(
    403,
    #"{"error":"mfa_required","error_description":"Multifactor authentication required","mfa_token":"Fe26.made-up"}"#)

  /// The factors of a user: an app that is touched comes first, and has no number.
  private static let factors = """
    [{"id":"recovery-code|dev_1","authenticator_type":"recovery-code","active":true},
    {"id":"push|dev_3","authenticator_type":"oob","oob_channel":"auth0","name":"Ann's telephone","active":true},
    {"id":"sms|dev_0","authenticator_type":"oob","oob_channel":"sms","name":"+1 XXXXXXX9999","active":false},
    {"id":"sms|dev_2","authenticator_type":"oob","oob_channel":"sms","name":"+1 XXXXXXX1234","active":true}]
    """

  /// Runs a login that ends in a challenge; `challenge` is the answer to each wish for one.
  private func withChallenge(
    _ challenge: String, factors: String = factors, otherwise: FakeProvider.Reply? = nil,
    _ body: (OIDCProvider, ProviderChallenge, FakeProvider) async throws -> Void
  ) async throws {
    try await FakeProvider.run { request, _ in
      switch request.path {
      case "/mfa/challenge":
        return request.body.contains(#""oob otp""#) ? FakeProvider.Reply(200, challenge) : otherwise ?? .notFound
      case "/mfa/authenticators": return FakeProvider.Reply(200, factors)
      default: break
      }
      if let lost = Self.lostReplies[request.form["binding_code"] ?? request.form["recovery_code"] ?? ""] {
        return lost
      }
      switch request.form["grant_type"] {
      case "password": return Self.required
      case "http://auth0.com/oauth/grant-type/mfa-oob" where request.form["binding_code"] == "123456":
        return request.form["oob_code"] == "oob-made-up" ? Self.tokens : .notFound
      case "http://auth0.com/oauth/grant-type/mfa-otp" where request.form["otp"] == "123456": return Self.tokens
      case "http://auth0.com/oauth/grant-type/mfa-recovery-code" where request.form["recovery_code"] == "GOOD":
        return Self.tokens
      default: return FakeProvider.Reply(403, #"{"error":"invalid_grant","error_description":"Invalid code."}"#)
      }
    } _: { server in
      var dialect = OIDCDialect.auth0(domain: "acme.auth0.com")
      dialect.issuer = server.issuer + "/"
      dialect.usesDiscovery = false
      dialect.endpoints[.token] = server.issuer + "/oauth/token"
      try await withProvider(dialect) { provider in
        guard case .otpRequired(let challenge) = try await provider.login(.ann()) else {
          Issue.record("a code is asked for")
          return
        }
        try await body(provider, challenge, server)
      }
    }
  }

  /// Replies that do not say whether the code was used, by the code.
  private static let lostReplies: [String: FakeProvider.Reply] = [
    "502": FakeProvider.Reply(502, "<html>"), "504": FakeProvider.Reply(504, ""),
    "cut": FakeProvider.Reply(200, #"{"access_token":"at","refresh_token":"v1."#),
    "page": FakeProvider.Reply(200, "<html>"), "nothing": FakeProvider.Reply(200, ""),
    "tokenless": FakeProvider.Reply(200, "{}"),
  ]

  @Test(arguments: ["502", "504", "cut", "page", "nothing", "tokenless"])
  func `a reply that does not say whether a code was used is a lost one`(_ reply: String) async throws {
    let kind: ErrorKind = reply.hasPrefix("50") ? .providerUnavailable : .invalidResponse
    try await withChallenge(Self.sent) { provider, challenge, _ in
      let (flow, code) = (challenge.flow, try secret(reply))
      let verified = await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: flow, code: code)
      }
      #expect(verified == .outcomeUnknown(kind))
      let recovered = await failure { () throws(ProviderFailure) in
        try await provider.verifyBackupCode(flow: flow, code: code)
      }
      #expect(recovered == .outcomeUnknown(kind))
    }
  }

  private static let sent = #"{"challenge_type":"oob","oob_code":"oob-made-up","binding_method":"prompt"}"#

  @Test func `a code that was sent is asked for and answered`() async throws {
    try await withChallenge(Self.sent) { provider, challenge, server in
      #expect(challenge.method == .sms && challenge.maskedDestination.hasSuffix("34") && challenge.backupCodesAllowed)
      #expect(!challenge.maskedDestination.contains("12"))
      let (flow, wrong) = (challenge.flow, try secret("000000"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: flow, code: wrong) }
          == .refused(.otpInvalid))
      let session = try await provider.verifyOTP(flow: flow, code: secret("123456"))
      #expect(session.tokens.refreshToken != nil)
      let request = try #require(server.requests(at: "/mfa/challenge").first)
      #expect(request.fields["content-type"] == "application/json")
      #expect(request.body == #"{"challenge_type":"oob otp","mfa_token":"Fe26.made-up","client_id":"cli"}"#)
      #expect(server.requests(at: "/mfa/authenticators").first?.fields["authorization"] == "Bearer Fe26.made-up")
    }
  }

  @Test func `an authenticator's code is asked for where there is one`() async throws {
    try await withChallenge(#"{"challenge_type":"otp"}"#) { provider, challenge, _ in
      #expect(challenge.method == .totp && challenge.maskedDestination.isEmpty)
      _ = try await provider.verifyOTP(flow: challenge.flow, code: secret("123456"))
    }
  }

  @Test(
    arguments: [
      ("email", "ann@example.com", OTPChallenge.Method.email, "a•••@example.com"),
      ("voice", "XXXXXXX1234", .sms, "XXXXXXX1234"),
    ])
  func `where a code went is said`(
    _ channel: String, _ name: String, _ method: OTPChallenge.Method, _ shown: String
  ) async throws {
    let factors =
      #"[{"id":"x|dev_1","authenticator_type":"oob","oob_channel":"\#(channel)","name":"\#(name)","active":true}]"#
    try await withChallenge(Self.sent, factors: factors) { _, challenge, _ in
      #expect(challenge.method == method && challenge.maskedDestination.hasSuffix(String(shown.suffix(2))))
    }
  }

  @Test func `a touch on a telephone is no code: that of the app is asked for`() async throws {
    let push = #"{"challenge_type":"oob","oob_code":"made-up"}"#
    try await withChallenge(push, otherwise: FakeProvider.Reply(200, #"{"challenge_type":"otp"}"#)) {
      provider, challenge, server in
      #expect(challenge.method == .totp && challenge.maskedDestination.isEmpty)
      #expect(server.requests(at: "/mfa/challenge").count == 2 && server.requests(at: "/mfa/authenticators").isEmpty)
      _ = try await provider.verifyOTP(flow: challenge.flow, code: secret("123456"))
    }
    let refusal = #"{"error":"unsupported_challenge_type","error_description":"made up"}"#
    for (status, body) in [(403, refusal), (200, push)] {
      await #expect(throws: ProviderFailure.unsupported) {
        try await withChallenge(push, otherwise: FakeProvider.Reply(status, body)) { _, _, _ in
          Issue.record("there is no code to be asked for")
        }
      }
    }
  }

  @Test func `a recovery code stands in, and another code can be asked for`() async throws {
    try await withChallenge(Self.sent) { provider, challenge, server in
      let again = try await provider.resendOTP(flow: challenge.flow)
      #expect(server.requests(at: "/mfa/challenge").count == 2)
      let (flow, wrong) = (again.flow, try secret("BAD"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyBackupCode(flow: flow, code: wrong) }
          == .refused(.backupCodeInvalid))
      _ = try await provider.verifyBackupCode(flow: flow, code: secret("GOOD"))
      #expect(provider.abilities.isSuperset(of: [.resendOtp, .verifyBackupCode]))
    }
  }

  @Test func `a handle of another kind is not known`() async throws {
    try await withChallenge(Self.sent) { provider, challenge, _ in
      let (other, code) = (try PendingFlow.device(code: secret("d"), scopes: []).handle(), try secret("1"))
      let found = await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: other, code: code) }
      #expect(found == .refused(.flowNotFound))
      let flow = challenge.flow
      let polled = await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: flow) }
      #expect(polled == .refused(.flowNotFound))
    }
  }
}
