import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import Testing

@testable import LocalProvider

/// Accounts with second factors.
extension ProviderFixture {
  static let phone = "+491511234567"

  /// Asks for changes of the account that a session is of, given as an object of JSON.
  func update(_ changes: String, _ session: ProviderSession) async throws(ProviderFailure) -> ProfileUpdate {
    guard let root = try? JSONDocument(parsing: Array(changes.utf8)).root,
      let profileChanges = try? ProfileChanges(from: root)
    else { throw .unsupported }
    return try await provider.updateProfile(profileChanges, accessToken: session.tokens.accessToken)
  }

  /// A session of a new account whose logins ask for a code.
  func session(
    _ email: String = "a@example.com", secondFactor: SecondFactor
  ) async throws -> ProviderSession {
    let session = try await session(email)
    let phone = secondFactor == .sms ? #","phoneNumber":"\#(Self.phone)""# : ""
    let update = try await update(#"{"twoFactor":"\#(secondFactor.rawValue)"\#(phone)}"#, session)
    try await prove(update)
    return session
  }

  /// Gives the code back that a new factor was sent.
  func prove(_ update: ProfileUpdate) async throws {
    let enrolment = try #require(update.enrolment)
    _ = try await provider.confirmEnrolment(flow: enrolment.flow, code: try sentCode())
  }

  /// The app that an enrolment's address sets up.
  func app(_ enrolment: ProviderEnrolment?) throws -> TOTP {
    let uri = try #require(enrolment?.uri?.revealedString())
    let secret = try #require(uri.split(separator: "secret=").last?.split(separator: "&").first)
    return TOTP(secret: try #require(try Base32.decode(Secret(utf8: String(secret)))))
  }

  /// The code that an app shows some steps from now.
  func code(_ app: TOTP, step: Int64 = 0) throws -> Secret { try app.code(atStep: TOTP.step(at: clock.now) + step) }

  /// A code that an app shows at none of the steps around now.
  func wrongCode(_ app: TOTP) throws -> Secret {
    let shown = try (-2...2).map { try code(app, step: $0) }
    // Of six codes one at least is none of five.
    let codes = try (0...5).map { try Secret(utf8: "00000\($0)") }
    return try #require(codes.first { !shown.contains($0) })
  }

  /// A session of a new account, and the app that makes the codes of its logins.
  ///
  /// The clock is a minute further then: the code that the app has shown itself by is used up.
  func enrolled(_ email: String = "a@example.com") async throws -> (session: ProviderSession, app: TOTP) {
    let session = try await session(email)
    let enrolment = try #require(try await update(#"{"twoFactor":"totp"}"#, session).enrolment)
    let app = try app(enrolment)
    _ = try await provider.confirmEnrolment(flow: enrolment.flow, code: try code(app))
    clock.advance(.seconds(60))
    return (session, app)
  }

  /// The challenge of a login.
  func login(_ email: String = "a@example.com") async throws -> ProviderChallenge {
    try await provider.login(try credentials(email)).challenge
  }

  /// New backup codes for the account of a session.
  func backupCodes(_ session: ProviderSession) async throws -> [Secret] {
    try await provider.generateBackupCodes(
      password: try Secret(utf8: Self.password), accessToken: session.tokens.accessToken)
  }

  /// What comes of a code; nil where it is right.
  func verify(_ challenge: ProviderChallenge, _ code: Secret) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await provider.verifyOTP(flow: challenge.flow, code: code) }
  }

  /// What comes of a backup code; nil where it is right.
  func verify(_ challenge: ProviderChallenge, backupCode code: Secret) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in
      try await provider.verifyBackupCode(flow: challenge.flow, code: code)
    }
  }
}
