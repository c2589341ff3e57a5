import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

/// One-time codes and backup codes, at a real backend.
@Suite(.standardTimeLimit) struct CodeTests {
  private func secret(_ text: String) throws -> Secret { try Secret(utf8: text) }

  @Test func `wrong codes are counted until the login ends`() async throws {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        let wrong = try secret("no code")
        for rest in [4, 3, 2, 1] {
          let refused = await failure { () throws(ProviderFailure) in
            try await provider.verifyOTP(flow: flow, code: wrong)
          }
          #expect(refused == .refused(.otpInvalid, attemptsRemaining: rest))
        }
        let last = await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: flow, code: wrong) }
        #expect(last?.kind == .tooManyAttempts)
      }
    }
  }

  @Test func `a challenge in answer to a refresh can be answered with its code`() async throws {
    try await Backend.run(["--account", annWithCode, "--set", "challengeAtRefresh=true"]) { backend in
      try await withProvider(backend) { provider in
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        let session = try await provider.verifyOTP(flow: flow, code: try await backend.code())
        let refreshToken = try #require(session.tokens.refreshToken)
        let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(refreshToken) }
        guard case .challenged(let challenge) = refusal else {
          Issue.record("\(String(describing: refusal))")
          return
        }
        #expect(challenge.otpLength == 6 && challenge.backupCodesAllowed)
        #expect(try await provider.verifyOTP(flow: challenge.flow, code: try await backend.code()).user?.id == "user-1")
      }
    }
  }

  @Test(arguments: [
    ("drop-after-commit", ErrorKind.networkUnavailable), ("status-502-html", .providerUnavailable),
    ("status-504-empty", .providerUnavailable), ("truncated-json", .invalidResponse), ("empty-200", .invalidResponse),
    ("captive-portal", .invalidResponse), ("access-token-absent", .invalidResponse), ("deflate-bare", .invalidResponse),
  ])
  func `a reply that does not say whether a code was used is a lost one`(_ name: String, _ kind: ErrorKind) async throws
  {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        let backup = try secret("aaaa-bbbb")
        try await backend.misbehave(name, at: "verifyBackupCode")
        let recovered = await failure { () throws(ProviderFailure) in
          try await provider.verifyBackupCode(flow: flow, code: backup)
        }
        #expect(recovered == .outcomeUnknown(kind))
        let next = try #require(try await provider.login(.ann()).challenge).flow
        try await backend.misbehave(name, at: "verifyOtp")
        let code = try await backend.code()
        let verified = await failure { () throws(ProviderFailure) in
          try await provider.verifyOTP(flow: next, code: code)
        }
        #expect(verified == .outcomeUnknown(kind))
      }
    }
  }

  @Test(arguments: ["empty", "oauth"])
  func `wrong codes are counted here where the backend does not`(_ style: String) async throws {
    try await Backend.run(["--account", annWithCode, "--set", "challengeDetail=minimal"]) { backend in
      try await withProvider(backend) { provider in
        let challenge = try #require(try await provider.login(.ann()).challenge)
        #expect(challenge.otpLength == 6 && challenge.attemptsRemaining == 5)
        let wrong = try secret("no code")
        for rest in [4, 3, 2, 1] {
          try await backend.misbehave(style == "empty" ? "status-401-empty" : "status-403-json", at: "verifyOtp")
          let refused = await failure { () throws(ProviderFailure) in
            try await provider.verifyOTP(flow: challenge.flow, code: wrong)
          }
          #expect(refused == .refused(.otpInvalid, attemptsRemaining: rest))
        }
        try await backend.misbehave("status-400-json", at: "verifyOtp")
        let last = await failure { () throws(ProviderFailure) in
          try await provider.verifyOTP(flow: challenge.flow, code: wrong)
        }
        #expect(last == .refused(.tooManyAttempts))
      }
    }
  }

  @Test func `another code is sent after the pause, and not before`() async throws {
    let settings = ["--set", "otpResendCooldownSeconds=300", "--set", "otpLifetimeSeconds=3600"]
    try await Backend.run(["--account", annWithCode] + settings) { backend in
      try await withProvider(backend) { provider in
        let challenge = try #require(try await provider.login(.ann()).challenge)
        let early = await failure { () throws(ProviderFailure) in try await provider.resendOTP(flow: challenge.flow) }
        guard case .refused(.resendTooSoon, nil, let wait?, nil) = early else {
          Issue.record("\(String(describing: early))")
          return
        }
        #expect(wait > .seconds(200) && wait <= .seconds(301))
        try await backend.ask(.post, "/clock", #"{"advanceSeconds":301}"#)
        let renewed = try await provider.resendOTP(flow: challenge.flow)
        #expect(renewed.flow == challenge.flow && renewed.maskedDestination == challenge.maskedDestination)
        #expect(renewed.nextResendAt + .seconds(2) > challenge.nextResendAt && renewed.backupCodesAllowed)
        #expect(try await provider.verifyOTP(flow: challenge.flow, code: try await backend.code()).user?.id == "user-1")
      }
    }
  }

  @Test func `a code that has ended, and a login that is not known`() async throws {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let challenge = try #require(try await provider.login(.ann()).challenge)
        let code = try await backend.code()
        try await backend.ask(.post, "/clock", #"{"advanceSeconds":301}"#)
        let ended = await failure { () throws(ProviderFailure) in
          try await provider.verifyOTP(flow: challenge.flow, code: code)
        }
        #expect(ended == .refused(.otpExpired))
        let unknown = try secret("flow-unknown")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: unknown, code: code) }
            == .refused(.flowNotFound))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.resendOTP(flow: unknown) }
            == .refused(.flowNotFound))
      }
    }
  }

  @Test func `a backup code stands in once`() async throws {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        let wrong = try secret("zzzz-zzzz")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyBackupCode(flow: flow, code: wrong) }
            == .refused(.backupCodeInvalid, attemptsRemaining: 4))
        let code = try secret("aaaa-bbbb")
        let session = try await provider.verifyBackupCode(flow: flow, code: code)
        #expect(session.backupCodesRemaining == 1 && session.user?.id == "user-1")
        let next = try #require(try await provider.login(.ann()).challenge).flow
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyBackupCode(flow: next, code: code) }?
            .kind
            == .backupCodeInvalid)
      }
    }
  }

  @Test func `a lost reply to a code says that the code may be spent`() async throws {
    try await Backend.run(["--account", annWithCode]) { backend in
      try await withProvider(backend) { provider in
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        try await backend.misbehave("drop-after-commit", at: "verifyBackupCode")
        let code = try secret("aaaa-bbbb")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyBackupCode(flow: flow, code: code) }
            == .outcomeUnknown(.networkUnavailable))
      }
    }
  }

  @Test func `where no code is sent again, a login is begun again with what was kept, or not at all`() async throws {
    try await Backend.run(["--account", annWithCode, "--set", "resendStrategy=restartLogin"]) { backend in
      var mapping = RESTMapping.standard
      mapping.resendStrategy = .restartLogin
      mapping.endpoints[.resendOtp] = nil
      try await withProvider(backend, mapping: mapping) { provider in
        #expect(provider.abilities.contains(.resendOtp))
        let first = try #require(try await provider.login(.ann()).challenge)
        let second = try await provider.resendOTP(flow: first.flow)
        #expect(second.flow != first.flow)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.resendOTP(flow: first.flow) }
            == .refused(.flowNotFound))
        let code = try await backend.code()
        #expect(try await provider.verifyOTP(flow: second.flow, code: code).user?.id == "user-1")
        // With the challenge the credentials have gone.
        #expect(provider.challenges.find(second.flow) == nil)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.resendOTP(flow: second.flow) }
            == .refused(.flowNotFound))
      }
      mapping.resendStrategy = .none
      try await withProvider(backend, mapping: mapping) { provider in
        #expect(!provider.abilities.contains(.resendOtp))
        let flow = try #require(try await provider.login(.ann()).challenge).flow
        #expect(provider.challenges.find(flow)?.credentials == nil)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.resendOTP(flow: flow) } == .unsupported)
      }
    }
  }
}
