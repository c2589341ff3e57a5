import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import FirebaseProvider

/// What a refusal means, by its documented name.
@Suite(.standardTimeLimit) struct RefusalTests {
  @Test func `a login that is refused says why`() async throws {
    let expected: [(String, Int, ErrorKind)] = [
      ("INVALID_LOGIN_CREDENTIALS", 400, .invalidCredentials), ("INVALID_PASSWORD", 400, .invalidCredentials),
      ("EMAIL_NOT_FOUND", 400, .invalidCredentials), ("USER_DISABLED", 400, .accountLocked),
      ("TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled", 400, .tooManyAttempts),
      ("QUOTA_EXCEEDED : Exceeded quota", 400, .rateLimited), ("INVALID_EMAIL", 400, .validationFailed),
      ("OPERATION_NOT_ALLOWED", 400, .providerRejected), ("PASSWORD_LOGIN_DISABLED", 400, .providerRejected),
      ("CONFIGURATION_NOT_FOUND", 400, .providerRejected), ("MISSING_RECAPTCHA_TOKEN", 400, .captchaRequired),
      ("SOMETHING_NEW", 400, .invalidCredentials), ("", 400, .invalidCredentials),
    ]
    try await Project.run { project in
      let provider = project.provider
      let credentials = try Credentials.ann()
      for (message, status, kind) in expected {
        try await project.refuse("signInWithPassword", message, status: status)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(credentials) }?.kind == kind,
          "\(message)")
      }
      try await project.refuse("signUp", "WEAK_PASSWORD : Password should be at least 6 characters")
      let registration = Registration(email: "x@example.com", password: try Secret(utf8: "x"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.register(registration) }
          == .refused(.validationFailed, fields: ["password"]))
    }
  }

  @Test func `only a refusal that is known to be final ends a session`() async throws {
    let endings = ["TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN"]
    let configuration = ["INVALID_GRANT_TYPE", "MISSING_REFRESH_TOKEN", "PROJECT_NUMBER_MISMATCH"]
    try await Project.run { project in
      let provider = project.provider
      let token = try #require(try await project.session().tokens.refreshToken)
      for message in endings {
        try await project.refuse("token", message)
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(found == .sessionEnded(.refreshRejected), "\(message)")
        if case .sessionEnded(_, _, let said) = found { #expect(said.status == 400 && said.error == message) }
      }
      for message in configuration {
        try await project.refuse("token", message)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .misconfigured(.project), "\(message)")
      }
      for (status, body, kind) in Self.passing {
        try await project.answer("token", status, body)
        let failure = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(failure == .transient(kind), "\(status) \(body)")
      }
      #expect(try await provider.refresh(token).refreshToken == token)
    }
  }

  private static let passing: [(Int, String, ErrorKind)] = [
    (400, #"{"error":{"code":400,"message":"SOMETHING_NEW"}}"#, .providerRejected),
    (400, "", .invalidResponse), (400, "<html>", .invalidResponse),
    (403, #"{"error":{"code":403,"message":"X","status":"X"}}"#, .forbidden),
    (404, "<!DOCTYPE html>", .invalidResponse), (302, "", .invalidResponse),
    (500, #"{"error":{"code":500,"message":"TOKEN_EXPIRED","status":"INTERNAL"}}"#, .providerUnavailable),
    (503, "", .providerUnavailable), (429, "{}", .providerUnavailable), (408, "", .providerUnavailable),
    (511, "<html>", .networkUnavailable), (200, "<html>", .invalidResponse),
  ]

  /// Successes that cannot be used, and that only the service can have sent.
  private static let unusable = [
    #"{"id_token":"half of a rep"#, #"{"id_token":"x","expires_in":-"#, #"{"id_token":"x","expires_in":1."#,
    #"{"id_token":"x","refresh_token":7}"#, #"{"refresh_token":"r"}"#, #"{"refreshToken":"r"}"#,
    #"{"id_token":"x","id_token":"y","refresh_token":"r"}"#, "{}", "[]", "", #"{"id_token":"x","token_type":"MAC"}"#,
    #"{"id_token":7}"#, #"{"id_token":"x","expires_in":-}"#,
  ]

  @Test func `an ID token is refused only where one was sent`() async throws {
    try await Project.run { project in
      let provider = project.provider
      let (code, token) = (try Secret(utf8: "made-up-code"), try BoundToken(Secret(utf8: "made-up-id-token")))
      try await project.refuse("update", "USER_NOT_FOUND")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyEmail(token: code) }
          == .refused(.invalidCredentials))
      try await project.refuse("update", "TOKEN_EXPIRED")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.verifyEmail(token: code) }
          == .refused(.validationFailed))
      // Whether there is such an account is not told, whatever the service calls it.
      try await project.refuse("sendOobCode", "USER_NOT_FOUND")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.forgotPassword(email: "x@example.com") } == nil
      )
      for message in ["TOKEN_EXPIRED", "USER_NOT_FOUND", "INVALID_ID_TOKEN"] {
        try await project.refuse("lookup", message)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
            == .tokenRefused)
      }
    }
  }

  @Test func `a wrong API key is for whoever configures, at whatever call`() async throws {
    try await Project.run(apiKey: "wrong-api-key") { project in
      let provider = project.provider
      let credentials = try Credentials.ann()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
          == .misconfigured(.project))
      let token = try BoundToken(Secret(utf8: "fake-refresh-token"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .misconfigured(.project))
    }
    for key in ["with space", "", "line\nbreak"] {
      try await Project.run(apiKey: key) { project in
        let provider = project.provider
        let credentials = try Credentials.ann()
        let refusal = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
        #expect(refusal?.kind == .configInvalid)
        if case .credentialMissing(let credential)? = refusal {
          #expect(credential.subject == "apiKey in the variable KEY")
        }
        #expect(try await project.server.ask(.get, "/ledger").required("entries").elements().isEmpty)
      }
    }
  }

  @Test func `a lost reply leaves the outcome open, and the token is sent once`() async throws {
    try await Project.run { project in
      let provider = project.provider
      let token = try #require(try await project.session().tokens.refreshToken)
      for kind in ["drop-after-commit", "drop-before"] {
        try await project.server.ask(.post, "/fault", #"{"call":"token","kind":"\#(kind)"}"#)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .outcomeUnknown(.networkUnavailable))
      }
      for body in Self.unusable {
        try await project.answer("token", 200, body)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .outcomeUnknown(.invalidResponse), "\(body)")
      }
      let replaced = Self.unusable.map { _ in "replaced" }
      #expect(try await project.deliveries("token") == ["dropped", "dropped"] + replaced)
    }
  }

  @Test func `a reply that does not come in time leaves the outcome open`() async throws {
    var outcome: ProviderFailure?
    for timeout in Patience.timeouts(from: .milliseconds(700)) {
      try await Project.run(timeout: timeout) { project in
        let provider = project.provider
        guard let token = try? await project.session().tokens.refreshToken else { return }
        try await project.server.ask(.post, "/fault", #"{"call":"token","kind":"hold"}"#)
        outcome = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        try await project.server.ask(.delete, "/fault")
      }
      if outcome == .outcomeUnknown(.timeout) { break }
    }
    #expect(outcome == .outcomeUnknown(.timeout))
  }
}
