import HTTP

/// Everything that a project can be asked for.
///
/// The names are those of the Identity Toolkit and of the Secure Token service (Firebase Auth REST API).
enum FirebaseCall: String, Sendable, CaseIterable {
  case signInWithPassword = "accounts:signInWithPassword"
  case signUp = "accounts:signUp"
  case sendOobCode = "accounts:sendOobCode"
  case resetPassword = "accounts:resetPassword"
  case update = "accounts:update"
  case lookup = "accounts:lookup"
  case delete = "accounts:delete"
  case finishSecondFactor = "accounts/mfaSignIn:finalize"
  case token

  /// Whether the tokens of a session may come back.
  var givesSession: Bool {
    switch self {
    case .signInWithPassword, .signUp, .finishSecondFactor, .token: true
    case .sendOobCode, .resetPassword, .update, .lookup, .delete: false
    }
  }

  /// The host of the service; below another server it is the first part of the path.
  private var host: String { self == .token ? "securetoken.googleapis.com" : "identitytoolkit.googleapis.com" }

  /// The second factor is in the second version only.
  private var version: String { self == .finishSecondFactor ? "v2" : "v1" }

  /// The address.
  ///
  /// - Parameter base: the server that stands for both services, if any.
  /// - Returns: where the call is sent.
  /// - Throws: `HTTPFailure.invalidURL`.
  func url(_ base: HTTPURL?) throws(HTTPFailure) -> HTTPURL {
    let path = "/\(version)/\(rawValue)"
    guard let base else { return try HTTPURL("https://\(host)\(path)") }
    return try base.appending(path: "/\(host)\(path)")
  }
}
