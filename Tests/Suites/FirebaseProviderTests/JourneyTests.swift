import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import LinuxSystem
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import FirebaseProvider

/// The life of a session and of an account at a project that answers in the documented shapes.
@Suite(.standardTimeLimit) struct JourneyTests {
  @Test func `login, refresh, and the user`() async throws {
    try await Project.run { project in
      let now = Timestamp(milliseconds: WallClock.milliseconds)
      let session = try await project.session()
      #expect(session.user == User(id: "local-1", email: "ann@example.com", name: "Ann"))
      #expect(session.tokens.accessToken.value == session.tokens.idToken)
      let lifetime = try #require(session.tokens.accessTokenExpiresAt) - now
      #expect(lifetime > .seconds(3500) && lifetime <= .seconds(3660))
      let refreshToken = try #require(session.tokens.refreshToken)
      let refreshed = try await project.provider.refresh(refreshToken)
      #expect(refreshed.accessToken != session.tokens.accessToken)
      #expect(refreshed.refreshToken == refreshToken, "refresh tokens do not rotate here")
      let user = try await project.provider.currentUser(accessToken: refreshed.accessToken)
      #expect(user == User(id: "local-1", email: "ann@example.com", emailVerified: false, name: "Ann"))
      #expect(project.provider.capabilities.revocation == nil)
      for entry in try await project.server.ask(.get, "/ledger").required("entries").elements() {
        #expect(try entry.required("key").string() == "header", "the key stands in no URL")
        #expect(try !entry.required("authorization").bool())
        let isForm = try entry.required("type").string() == "application/x-www-form-urlencoded"
        #expect(isForm == (try entry.required("call").string() == "token"))
      }
    }
  }

  @Test func `a refresh token of another program is taken over`() async throws {
    try await Project.run { project in
      let token = try #require(try await project.session().tokens.refreshToken)
      let provider = project.provider
      let outcome = try await provider.login(Credentials(method: .refreshToken, refreshToken: token.value))
      #expect(outcome.session?.tokens.refreshToken == token)
      let unknown = Credentials(method: .refreshToken, refreshToken: try Secret(utf8: "never-given-out"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(unknown) }
          == .refused(.invalidCredentials))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(Credentials(method: .refreshToken)) }
          == .refused(.missingCredential, fields: ["refreshToken"]))
      for method in [LoginMethod.browser, .deviceCode, .clientCredentials] {
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(Credentials(method: method)) }
            == .unsupported)
      }
    }
  }

  @Test func `an account is made, verified, changed and removed`() async throws {
    try await Project.run([]) { project in
      let (provider, server) = (project.provider, project.server)
      let password = try Secret(utf8: "made-up-password")
      let registration = Registration(email: "bob@example.com", password: password, name: "Bob")
      let session = try #require(try await provider.register(registration).session)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.register(registration) }
          == .refused(.emailTaken))
      let code = try await project.code()
      try await provider.verifyEmail(token: code)
      #expect(try await provider.currentUser(accessToken: session.tokens.accessToken).emailVerified == true)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyEmail(token: code) }
          == .refused(.validationFailed, fields: ["token"]))
      let renamed = ProfileChanges([.init(name: "name", value: try RawJSON(from: try node(#""Bob B.""#)))])
      #expect(
        try await provider.updateProfile(renamed, accessToken: session.tokens.accessToken).user.name == "Bob B.")
      let odd = ProfileChanges([.init(name: "phoneNumber", value: try RawJSON(from: try node(#""+15550100""#)))])
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider.updateProfile(odd, accessToken: session.tokens.accessToken)
        } == .refused(.validationFailed, fields: ["phoneNumber"]))
      let next = try Secret(utf8: "another-password")
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider.changePassword(from: next, to: password, accessToken: session.tokens.accessToken)
        } == .refused(.invalidCredentials), "the old password is checked, although the service would not")
      let fresh = try #require(
        try await provider.changePassword(from: password, to: next, accessToken: session.tokens.accessToken))
      let provider2 = provider
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider2.deleteAccount(password: password, accessToken: fresh.accessToken)
        } == .refused(.invalidCredentials))
      try await provider.deleteAccount(password: next, accessToken: fresh.accessToken)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider2.currentUser(accessToken: fresh.accessToken) }
          == .tokenRefused)
      _ = server
    }
  }

  @Test func `a forgotten password is set anew, and nobody learns who has an account`() async throws {
    try await Project.run { project in
      let provider = project.provider
      let old = try await project.session()
      try await provider.forgotPassword(email: "nobody@example.com")
      try await provider.forgotPassword(email: "ann@example.com")
      let code = try await project.code()
      let weak = try Secret(utf8: "weak")
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider.resetPassword(token: code, newPassword: weak)
        } == .refused(.validationFailed, fields: ["password"]))
      try await provider.resetPassword(token: code, newPassword: try Secret(utf8: "another-password"))
      #expect(try await provider.login(.ann("another-password")).session != nil)
      let token = try #require(old.tokens.refreshToken)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .sessionEnded(.refreshRejected))
    }
  }

  @Test func `the code of an app is a second factor, one by SMS needs a browser`() async throws {
    let app = Project.ann.dropLast() + #","totp":true,"sms":true}"#
    try await Project.run([String(app)]) { project in
      let provider = project.provider
      let challenge = try #require(try await provider.login(.ann()).challenge)
      #expect(challenge.method == .totp && challenge.otpLength == 6 && !challenge.backupCodesAllowed)
      let (wrong, right) = (try Secret(utf8: "000000"), try Secret(utf8: "135790"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: challenge.flow, code: wrong) }
          == .refused(.otpInvalid))
      let session = try await provider.verifyOTP(flow: challenge.flow, code: right)
      #expect(session.tokens.refreshToken != nil && session.tokens.accessTokenExpiresAt != nil)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: challenge.flow, code: right) }
          == .refused(.flowNotFound))
      for flow in ["", " ", "x", " x", "x "] {
        let flow = try Secret(utf8: flow)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: flow, code: right) }
            == .refused(.flowNotFound))
      }
    }
    let sms = Project.ann.dropLast() + #","sms":true}"#
    try await Project.run([String(sms)]) { project in
      let provider = project.provider
      let credentials = try Credentials.ann()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
          == .refused(.captchaRequired))
    }
  }

  @Test func `a project is asked for without its key, and without credentials`() async throws {
    try await Project.run { project in
      let probe = await project.provider.probe()
      guard case .answered(let status, _, _) = probe.outcome else {
        Issue.record("no answer: \(probe)")
        return
      }
      #expect(status == 403)
      #expect(probe.place?.usesTLS == false)
      let entries = try await project.server.ask(.get, "/ledger").required("entries").elements()
      #expect(entries.count == 1)
      #expect(try entries[0].required("method").string() == "GET")
      #expect(entries[0]["key"]?.isNull == true)
    }
  }

  private func node(_ json: String) throws -> JSONNode { try JSONDocument(parsing: Array(json.utf8)).root }
}
