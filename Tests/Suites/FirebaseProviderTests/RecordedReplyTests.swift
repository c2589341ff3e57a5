import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import FirebaseProvider

/// Replies in the shapes that the Firebase Auth REST API shows (firebase.google.com/docs/reference/rest/auth); every token
/// is made up.
@Suite(.standardTimeLimit) struct RecordedReplyTests {
  private static let signIn = """
    {"localId":"ZY1rJK0eYLg-made-up","email":"ann@example.com","displayName":"","idToken":"made-up-id-token",\
    "registered":true,"refreshToken":"made-up-refresh-token","expiresIn":"3600"}
    """
  private static let refresh = """
    {"expires_in":"3600","token_type":"Bearer","refresh_token":"made-up-refresh-token","id_token":"made-up-id-token-2",\
    "user_id":"ZY1rJK0eYLg-made-up","project_id":"1234567890"}
    """
  private static let lookup = """
    {"users":[{"localId":"ZY1rJK0eYLg-made-up","email":"ann@example.com","emailVerified":false,\
    "displayName":"Ann Example","providerUserInfo":[{"providerId":"password","displayName":"Ann Example",\
    "photoUrl":"http://localhost:8080/img1234567890/photo.png","federatedId":"ann@example.com",\
    "email":"ann@example.com","rawId":"ann@example.com","screenName":"ann@example.com"}],\
    "photoUrl":"https://lh5.googleusercontent.com/photo.jpg","passwordHash":"made-up",\
    "passwordUpdatedAt":1.484124177E12,"validSince":"1484124177","disabled":false,"lastLoginAt":"1484628946000",\
    "createdAt":"1484124142000","customAuth":false}]}
    """

  @Test func `a login`() async throws {
    try await Project.run { project in
      try await project.answer("signInWithPassword", 200, Self.signIn)
      let session = try #require(try await project.provider.login(.ann()).session)
      #expect(session.user == User(id: "ZY1rJK0eYLg-made-up", email: "ann@example.com"))
      #expect(try session.tokens.accessToken.value == Secret(utf8: "made-up-id-token"))
      #expect(session.tokens.refreshToken != nil && session.tokens.subject == nil)
    }
  }

  @Test func `a refresh, and whose it is`() async throws {
    try await Project.run { project in
      let token = try BoundToken(Secret(utf8: "made-up-refresh-token"))
      try await project.answer("token", 200, Self.refresh)
      let tokens = try await project.provider.refresh(token)
      #expect(try tokens.accessToken.value == Secret(utf8: "made-up-id-token-2") && tokens.refreshToken == token)
      #expect(tokens.subject == "ZY1rJK0eYLg-made-up")
      try await project.answer("token", 200, Self.refresh)
      let taken = try #require(
        try await project.provider.login(Credentials(method: .refreshToken, refreshToken: token.value)).session)
      #expect(taken.user == User(id: "ZY1rJK0eYLg-made-up") && taken.tokens.subject == nil)
    }
  }

  @Test func `tokens of sixty thousand bytes are tokens`() async throws {
    try await Project.run { project in
      let long = String(repeating: "t", count: 60_000)
      let signIn = Self.signIn.replacing("made-up-id-token", with: long)
        .replacing("made-up-refresh-token", with: "r" + long)
      try await project.answer("signInWithPassword", 200, signIn)
      let session = try #require(try await project.provider.login(.ann()).session)
      #expect(session.tokens.accessToken.value.byteCount == 60_000)
      let token = try #require(session.tokens.refreshToken)
      #expect(token.value.byteCount == 60_001)
      try await project.answer("token", 200, Self.refresh.replacing("made-up-id-token-2", with: "a" + long))
      #expect(try await project.provider.refresh(token).accessToken.value.byteCount == 60_001)
    }
  }

  @Test func `refusals`() async throws {
    try await Project.run { project in
      let provider = project.provider
      let (ann, token) = (try Credentials.ann(), try BoundToken(Secret(utf8: "made-up-refresh-token")))
      for (message, expected) in [
        ("EMAIL_NOT_FOUND", .refused(.invalidCredentials)), ("INVALID_PASSWORD", .refused(.invalidCredentials)),
        ("USER_DISABLED", .refused(.accountLocked)),
      ] as [(String, ProviderFailure)] {
        try await project.refuse("signInWithPassword", message)
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(ann) } == expected)
      }
      for (message, expected) in [
        ("TOKEN_EXPIRED", .sessionEnded(.refreshRejected)), ("USER_DISABLED", .sessionEnded(.refreshRejected)),
        ("USER_NOT_FOUND", .sessionEnded(.refreshRejected)),
        ("INVALID_REFRESH_TOKEN", .sessionEnded(.refreshRejected)), ("INVALID_GRANT_TYPE", .misconfigured(.project)),
        ("MISSING_REFRESH_TOKEN", .misconfigured(.project)),
      ] as [(String, ProviderFailure)] {
        try await project.refuse("token", message)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) } == expected, "\(message)")
      }
    }
  }

  @Test func `the user`() async throws {
    try await Project.run { project in
      let (provider, token) = (project.provider, try BoundToken(Secret(utf8: "made-up-id-token")))
      try await project.answer("lookup", 200, Self.lookup)
      #expect(
        try await provider.currentUser(accessToken: token)
          == User(id: "ZY1rJK0eYLg-made-up", email: "ann@example.com", emailVerified: false, name: "Ann Example"))
      try await project.refuse("lookup", "INVALID_ID_TOKEN")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
          == .tokenRefused)
    }
  }

  @Test func `a session cannot be ended by a client`() async throws {
    try await Project.run { project in
      #expect(project.provider.capabilities.revocation == nil)
    }
  }
}
