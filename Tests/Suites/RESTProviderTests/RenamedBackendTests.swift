import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
import HTTP
import JSON
import LinuxSystem
import ProviderKit
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import RESTProvider

/// A backend that differs in everything, with the very configuration of the documentation.
@Suite(.standardTimeLimit) struct RenamedBackendTests {
  /// The configuration that `Mapping.md` shows.
  private func documented() throws -> RESTMapping {
    let page = String(decoding: try Self.read(Repository.root + "/Sources/Providers/REST/Mapping.md"), as: UTF8.self)
    let start = try #require(page.firstRange(of: "<!-- test: renamed -->\n```json5\n")?.upperBound)
    let end = try #require(page[start...].firstRange(of: "```")?.lowerBound)
    let text = page[start..<end].replacing("BASE", with: "http://127.0.0.1:1")
    let configuration = try BrokerConfiguration.parse(Array(text.utf8), file: "Mapping.md", environment: [:])
    guard case .remote(let remote)? = configuration[.default]?.provider,
      let profile = remote as? RESTProfileConfiguration
    else { throw TestServerFailure.notStarted }
    #expect(profile.clientID == "demo-client" && profile.clientSecret?.place == .environment("DEMO_SECRET"))
    return profile.mapping
  }

  private static func read(_ path: String) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .read)
    var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case .bytes(let count) = file.read(into: &buffer), count > 0 { text += buffer[..<count] }
    return text
  }

  private func run(
    _ arguments: [String] = [], secret: String = "demo secret: 100% & made up",
    _ body: (Backend, RESTProvider) async throws -> Void
  ) async throws {
    let mapping = try documented()
    try await Backend.run(["--dialect", "renamed"] + arguments) { backend in
      try await withProvider(backend, mapping: mapping, clientID: "demo-client", clientSecret: secret) { provider in
        try await body(backend, provider)
      }
    }
  }

  @Test func `the whole life of a session`() async throws {
    try await run(["--account", annWithCode]) { backend, provider in
      #expect(
        provider.abilities
          == Set(ProviderAbility.allCases).subtracting([.generateBackupCodes, .awaitLogin, .createProof]))
      let first = try #require(try await provider.login(.ann()).challenge)
      #expect(first.otpLength == 6 && first.method == .sms && first.backupCodesAllowed && first.attemptsRemaining == 5)
      #expect(first.maskedDestination == "********0123")
      let wrong = try Secret(utf8: "x")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: first.flow, code: wrong) }
          == .refused(.otpInvalid, attemptsRemaining: 4))
      let flow = try await provider.resendOTP(flow: first.flow).flow
      let session = try await provider.verifyOTP(flow: flow, code: try await backend.code())
      #expect(session.user?.name == "Ann" && session.user?.phoneNumberMasked == "+•••••••••23")
      #expect(session.tokens.scopes == ["read", "write"] && session.tokens.accessTokenExpiresAt != nil)
      let tokens = try await provider.refresh(try #require(session.tokens.refreshToken))
      let changes = ProfileChanges([.init(name: "name", value: RawJSON(text: Array(#""Änn""#.utf8)))])
      #expect(try await provider.updateProfile(changes, accessToken: tokens.accessToken).user.name == "Änn")
      #expect(try await provider.currentUser(accessToken: tokens.accessToken).name == "Änn")
      try await provider.revoke(tokens, everywhere: false)
      let spent = try #require(tokens.refreshToken)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(spent) }
          == .sessionEnded(.refreshRejected))
      #expect(try await backend.ledger("logout").map { try $0.required("by").string() } == ["rfc7009"])
    }
  }

  @Test func `accounts, passwords and backup codes`() async throws {
    try await run { backend, provider in
      let (old, new) = (try Secret(utf8: "made-up-password"), try Secret(utf8: "another-made-up"))
      let registration = Registration(email: "ann@example.com", password: old, name: "Ann", phoneNumber: nil)
      let token = try #require(try await provider.register(registration).session).tokens.accessToken
      try await provider.verifyEmail(token: try await backend.mailToken())
      #expect(try await provider.changePassword(from: old, to: new, accessToken: token) == nil)
      try await provider.forgotPassword(email: "ann@example.com")
      try await provider.resetPassword(token: try await backend.mailToken(), newPassword: old)
      let next = try #require(try await provider.login(.ann()).session).tokens.accessToken
      try await provider.deleteAccount(password: old, accessToken: next)
      try await backend.add(annWithCode)
      let flow = try #require(try await provider.login(.ann()).challenge).flow
      let session = try await provider.verifyBackupCode(flow: flow, code: try Secret(utf8: "cccc-dddd"))
      #expect(session.backupCodesRemaining == 1)
    }
  }

  @Test func `a wrong password of the client ends no session`() async throws {
    try await run(["--account", ann], secret: "wrong") { _, provider in
      let credentials = try Credentials.ann()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
          == .misconfigured(.client))
      let token = try BoundToken(Secret(utf8: "any"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) } == .misconfigured(.client))
    }
  }

  @Test func `a client makes itself known in the body`() async throws {
    var mapping = try documented()
    mapping.clientAuthentication = .post
    let secret = "demo secret: 100% & made up"
    try await Backend.run(["--dialect", "renamed", "--account", ann, "--set", "clientAuth=post"]) { backend in
      try await withProvider(backend, mapping: mapping, clientID: "demo-client", clientSecret: secret) { provider in
        let outcome = try await provider.login(.ann())
        #expect(outcome.session != nil)
      }
    }
  }

  @Test(arguments: [(RESTMapping.RevokeStyle.bearer, "bearer"), (.body, "body")])
  func `a session is ended in the style of the backend`(_ style: RESTMapping.RevokeStyle, _ by: String) async throws {
    try await Backend.run(["--account", ann, "--set", "revokeStyle=\(by)"]) { backend in
      var mapping = RESTMapping.standard
      mapping.revokeStyle = style
      try await withProvider(backend, mapping: mapping) { provider in
        let tokens = try #require(try await provider.login(.ann()).session?.tokens)
        try await provider.revoke(tokens, everywhere: false)
      }
      let entry = try #require(try await backend.ledger("logout").first)
      #expect(try entry.required("by").string() == by && entry.required("outcome").string() == "revoked")
    }
  }

  @Test(arguments: [RESTMapping.RevokeStyle.bearer, .body, .rfc7009])
  func `what a login was given and cannot use is ended`(_ style: RESTMapping.RevokeStyle) async throws {
    try await Backend.run(["--account", annWithCode, "--set", "revokeStyle=\(style.rawValue)"]) { backend in
      var mapping = RESTMapping.standard
      mapping.revokeStyle = style
      try await withProvider(backend, mapping: mapping) { provider in
        let foreign = #","path":"token_type","value":"DPoP""#
        let credentials = try Credentials.ann()
        let flow = try #require(try await provider.login(credentials).challenge).flow
        let code = try await backend.code()
        try await backend.misbehave("field", at: "verifyOtp", foreign)
        let verified = await failure { () throws(ProviderFailure) in
          try await provider.verifyOTP(flow: flow, code: code)
        }
        let bob = Registration(email: "bob@example.com", password: try Secret(utf8: "made-up-password"))
        try await backend.misbehave("field", at: "register", foreign)
        let registered = await failure { () throws(ProviderFailure) in try await provider.register(bob) }
        let logins = Credentials(email: bob.email, password: bob.password)
        try await backend.misbehave("field", at: "login", foreign)
        let loggedIn = await failure { () throws(ProviderFailure) in try await provider.login(logins) }
        let foreigner = ProviderRejection(.invalidResponse, said: ProviderWord("DPoP").map { .tokenType($0) })
        #expect([verified, registered, loggedIn] == Array(repeating: .rejected(foreigner), count: 3))
        // Without an access token there is no bearer.
        try await backend.misbehave("access-token-absent", at: "login")
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(logins) }
            == .refused(.invalidResponse))
      }
      let ended = try await backend.ledger("logout").map { try $0.required("outcome").string() }
      #expect(ended == Array(repeating: "revoked", count: style == .bearer ? 3 : 4))
    }
  }

  @Test func `names of errors mean what the configuration says`() async throws {
    try await Backend.run(["--account", ann]) { backend in
      var mapping = RESTMapping.standard
      mapping.errors.kinds = ["FROZEN": .accountLocked, "LATER": .providerUnavailable]
      mapping.errors.code = try [#require(RESTPath(reading: "fault.name"))]
      try await withProvider(backend, mapping: mapping) { provider in
        let token = try #require(try await provider.login(.ann()).session?.tokens.refreshToken)
        let frozen = #","status":401,"body":{"fault":{"name":"FROZEN"}}"#
        let credentials = try Credentials.ann()
        try await backend.misbehave("status", at: "login", frozen)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
            == .refused(.accountLocked))
        try await backend.misbehave("status", at: "refresh", frozen)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) } == .refused(.accountLocked))
        try await backend.misbehave("status", at: "refresh", #","status":400,"body":{"fault":{"name":"LATER"}}"#)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .transient(.providerUnavailable))
        try await backend.misbehave("status", at: "refresh", #","status":401,"body":{"fault":{"name":"OTHER"}}"#)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .sessionEnded(.refreshRejected))
      }
    }
  }
}
