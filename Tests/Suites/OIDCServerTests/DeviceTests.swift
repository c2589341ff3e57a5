import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Logins at another device, where a scripted person types the code in.
@Suite(.standardTimeLimit) struct DeviceTests {
  @Test func `a person approves, denies, or comes too late`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      let code = try #require(action.userCode)
      let url = try #require(party.places["url"])
      #expect(action.kind == .deviceCode && action.interval == .seconds(1))
      #expect(action.verificationURI == url + "/o/device/")
      #expect(action.verificationURIComplete == url + "/o/device/?user_code=\(code)")
      guard case .pending(slowsDown: false) = try await provider.pollUserAction(flow: action.flow) else {
        Issue.record("nobody has approved yet")
        return
      }
      let slow = #"{"endpoint":"token","kind":"answer","status":400,"body":{"error":"slow_down"}}"#
      try await party.control("/fault", slow)
      guard case .pending(slowsDown: true) = try await provider.pollUserAction(flow: action.flow) else {
        Issue.record("the server wants to be asked less often")
        return
      }
      try await party.control("/approve", #"{"userCode":"\#(code)"}"#)
      let session = try #require(try await provider.pollUserAction(flow: action.flow).session)
      #expect(try await provider.currentUser(accessToken: session.tokens.accessToken).email == "alice@example.com")
      let token = try #require(session.tokens.refreshToken)
      #expect(try await provider.refresh(token).refreshToken != token)
    }
  }

  @Test func `a person says no, and a code runs out`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let denied = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      let body = #"{"userCode":"\#(denied.userCode ?? "")","decision":"deny"}"#
      try await party.control("/approve", body)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: denied.flow) }
          == .refused(.consentDenied))
      let late = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      try await party.control("/expire-devices")
      let end = await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: late.flow) }
      #expect(end == .refused(.otpExpired))
      let nonsense = try Secret(utf8: "nonsense")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: nonsense) }
          == .refused(.flowNotFound))
    }
  }
}
