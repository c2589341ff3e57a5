import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

/// The methods around an account, at a real backend.
@Suite(.standardTimeLimit) struct AccountTests {
  private func secret(_ text: String) throws -> Secret { try Secret(utf8: text) }

  @Test func `an account is made, verified and logged in`() async throws {
    try await Backend.run(["--set", "registerNeedsVerification=true"]) { backend in
      try await withProvider(backend) { provider in
        let registration = Registration(
          email: "ann@example.com", password: try secret("made-up-password"), name: "Ann")
        guard case .emailVerificationRequired = try await provider.register(registration) else {
          Issue.record("the address must be verified first")
          return
        }
        let credentials = try Credentials.ann()
        let early = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
        #expect(early == .refused(.emailUnverified))
        let token = try await backend.mailToken()
        try await provider.verifyEmail(token: token)
        let again = await failure { () throws(ProviderFailure) in try await provider.verifyEmail(token: token) }
        #expect(again == .refused(.validationFailed))
        #expect(try await provider.login(.ann()).session != nil)
      }
    }
  }

  @Test func `a new account is logged in at once, or refused with its reasons`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let bob = Registration(email: "bob@example.com", password: try secret("made-up-password"), name: "Bob")
        #expect(try await provider.register(bob).session?.user?.name == "Bob")
        let taken = Registration(email: "ann@example.com", password: try secret("made-up-password"))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.register(taken) } == .refused(.emailTaken))
        let weak = Registration(email: "cid@example.com", password: try secret("x"))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.register(weak) }
            == .refused(.validationFailed, fields: ["password"]))
      }
    }
  }

  @Test func `a backend that gives no tokens for an account is logged in at`() async throws {
    try await Backend.run { backend in
      try await withProvider(backend) { provider in
        try await backend.misbehave("status", at: "register", #","commit":true,"status":201,"body":{"success":true}"#)
        let registration = Registration(email: "ann@example.com", password: try secret("made-up-password"))
        #expect(try await provider.register(registration).session != nil)
      }
    }
  }

  @Test func `a forgotten password is replaced`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        try await provider.forgotPassword(email: "nobody@example.com")
        try await provider.forgotPassword(email: "ann@example.com")
        let token = try await backend.mailToken()
        try await provider.resetPassword(token: token, newPassword: try secret("another-made-up"))
        #expect(try await provider.login(.ann("another-made-up")).session != nil)
        let next = try secret("third-made-up")
        let again = await failure { () throws(ProviderFailure) in
          try await provider.resetPassword(token: token, newPassword: next)
        }
        #expect(again == .refused(.validationFailed))
      }
    }
  }

  @Test func `what is known of the account is read and changed`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let token = try #require(try await provider.login(.ann()).session).tokens.accessToken
        let changes = ProfileChanges([
          .init(name: "name", value: RawJSON(text: Array(#""Ann B.""#.utf8))),
          .init(name: "phoneNumber", value: RawJSON(text: Array(#""+15550100123""#.utf8))),
        ])
        let user = try await provider.updateProfile(changes, accessToken: token).user
        #expect(user.name == "Ann B." && user.phoneNumberMasked == "+•••••••••23")
        try await backend.misbehave("status", at: "updateProfile", #","commit":true,"status":204"#)
        #expect(try await provider.updateProfile(changes, accessToken: token).user == user)
        #expect(try await provider.currentUser(accessToken: token) == user)
        try await backend.ask(.post, "/expire-access", "{}")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
            == .tokenRefused)
      }
    }
  }

  @Test(arguments: ["success", "empty", "tokens"])
  func `a password is changed`(_ reply: String) async throws {
    try await Backend.run(["--account", ann, "--set", "changePasswordReply=\(reply)"]) { backend in
      try await withProvider(backend) { provider in
        let token = try #require(try await provider.login(.ann()).session).tokens.accessToken
        let (old, new) = (try secret("made-up-password"), try secret("another-made-up"))
        let wrong = await failure { () throws(ProviderFailure) in
          try await provider.changePassword(from: new, to: old, accessToken: token)
        }
        #expect(wrong == .refused(.invalidCredentials))
        let tokens = try await provider.changePassword(from: old, to: new, accessToken: token)
        #expect((tokens != nil) == (reply == "tokens"))
        #expect(try await provider.currentUser(accessToken: tokens?.accessToken ?? token).id == "user-1")
        #expect(try await provider.login(.ann("another-made-up")).session != nil)
      }
    }
  }

  @Test func `an account is removed by who knows its password`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let token = try #require(try await provider.login(.ann()).session).tokens.accessToken
        let wrong = try secret("wrong")
        #expect(
          await failure { () throws(ProviderFailure) in
            try await provider.deleteAccount(password: wrong, accessToken: token)
          }
            == .refused(.invalidCredentials))
        try await provider.deleteAccount(password: try secret("made-up-password"), accessToken: token)
        let credentials = try Credentials.ann()
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
            == .refused(.invalidCredentials))
      }
    }
  }

  @Test(arguments: [
    (#""locked":true"#, ErrorKind.accountLocked), (#""captcha":true"#, .captchaRequired),
  ])
  func `a login is refused for the account's reasons`(_ trait: String, _ kind: ErrorKind) async throws {
    let account = #"{"email":"ann@example.com","password":"made-up-password",\#(trait)}"#
    for style in ["seed", "problem", "oauth", "message"] {
      try await Backend.run(["--account", account, "--set", "errorStyle=\(style)"]) { backend in
        try await withProvider(backend) { provider in
          let credentials = try Credentials.ann()
          let refused = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
          #expect(refused == .refused(kind), "\(style)")
        }
      }
    }
  }

  @Test func `nothing is sent without a password, or to an endpoint that is not there`() async throws {
    try await Backend.run { backend in
      var mapping = RESTMapping.standard
      for name in [RESTEndpoint.Name.register, .forgotPassword, .currentUser, .logout] { mapping.endpoints[name] = nil }
      try await withProvider(backend, mapping: mapping) { provider in
        #expect(!provider.abilities.contains(.register) && provider.abilities.contains(.verifyEmail))
        #expect(
          await failure { () throws(ProviderFailure) in
            try await provider.login(Credentials(email: "a@b.example", password: nil))
          }
            == .refused(.missingCredential, fields: ["password"]))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.forgotPassword(email: "a@b.example") }
            == .unsupported)
        let token = try BoundToken(secret("t"))
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
            == .unsupported)
        let tokens = TokenSet(accessToken: token.value, accessTokenExpiresAt: nil, refreshToken: token.value)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.revoke(tokens, everywhere: true) }
            == .unsupported)
      }
      #expect(try await backend.ledger("request").isEmpty)
    }
  }

  @Test func `a backend that takes a phone number and no address is logged in to with that`() async throws {
    try await Backend.run { backend in
      var mapping = RESTMapping.standard
      mapping.endpoints[.login]?.fields[.email] = nil
      try await withProvider(backend, mapping: mapping) { provider in
        #expect(provider.loginForms == [LoginForm(method: .password, fields: ["phoneNumber", "password"])])
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(Credentials(email: "a@b.example")) }
            == .refused(.missingCredential, fields: ["phoneNumber", "password"]))
      }
      #expect(try await backend.ledger("request").isEmpty)
    }
  }

  @Test func `every session of the user ends where that is asked for`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      try await withProvider(backend) { provider in
        let here = try #require(try await provider.login(.ann()).session?.tokens)
        let there = try #require(try await provider.login(.ann()).session?.tokens.refreshToken)
        try await provider.revoke(here, everywhere: true)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(there) }
            == .sessionEnded(.refreshRejected))
      }
    }
  }
}
