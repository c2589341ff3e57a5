/// One thing that a backend can be asked for, and how.
package struct RESTEndpoint: Sendable, Equatable {
  /// The request method (RFC 9110, section 9).
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// A value that is the same in every request.
  package enum Constant: Sendable, Equatable {
    case text(String)
    case whole(Int)
    case flag(Bool)
  }

  /// The request method.
  package var method: Method
  /// The path below the base URL; begins with `/`.
  package var path: String
  /// The encoding of the body; nil for the mapping's.
  package var encoding: RESTMapping.Encoding?
  /// The backend's names of the fields that it wants; the others are not sent.
  package var fields: [Field: String]
  /// The constants that are sent besides, by name.
  package var added: [String: Constant]
  /// The kinds of reply that are asked for (RFC 9110, section 12.5.1).
  package var accept: String

  /// JSON, and problems described in it (RFC 9457).
  package static let standardAccept = "application/json, application/problem+json"

  /// An endpoint.
  package init(_ method: Method, _ path: String, fields: [Field: String]) {
    self.method = method
    self.path = path
    self.fields = fields
    encoding = nil
    added = [:]
    accept = Self.standardAccept
  }
}

extension RESTEndpoint {
  /// Everything that a backend can be asked for; the names of the configuration.
  package enum Name: String, Sendable, CaseIterable {
    case login, verifyOtp, resendOtp, verifyBackupCode, refresh, logout, register, forgotPassword, resetPassword
    case verifyEmail, changePassword, currentUser, updateProfile, deleteAccount
  }

  /// Everything that is sent; the names of the configuration.
  package enum Field: String, Sendable, CaseIterable {
    case email, password, name, phoneNumber, scope, otpFlowId, code, backupCode, refreshToken, token, oldPassword
    case newPassword, everywhere, audience
  }

  /// The endpoint as it is where nothing else is said.
  package static func standard(_ name: Name) -> RESTEndpoint {
    let (method, path): (Method, String) =
      switch name {
      case .login: (.post, "/auth/login")
      case .verifyOtp: (.post, "/auth/otp/verify")
      case .resendOtp: (.post, "/auth/otp/resend")
      case .verifyBackupCode: (.post, "/auth/backup-codes/verify")
      case .refresh: (.post, "/auth/refresh")
      case .logout: (.post, "/auth/logout")
      case .register: (.post, "/auth/register")
      case .forgotPassword: (.post, "/auth/forgot-password")
      case .resetPassword: (.post, "/auth/reset-password")
      case .verifyEmail: (.post, "/auth/verify-email")
      case .changePassword: (.post, "/auth/change-password")
      case .currentUser: (.get, "/auth/me")
      case .updateProfile: (.patch, "/auth/profile")
      case .deleteAccount: (.delete, "/auth/account")
      }
    let fields = name.fields.filter { !name.offeredFields.contains($0) }
    return RESTEndpoint(method, path, fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, $0.rawValue) }))
  }
}

extension RESTEndpoint.Name {
  /// The fields that an endpoint can be sent.
  package var fields: [RESTEndpoint.Field] {
    switch self {
    case .login: [.email, .password, .phoneNumber, .scope]
    case .verifyOtp: [.otpFlowId, .code]
    case .resendOtp: [.otpFlowId]
    case .verifyBackupCode: [.otpFlowId, .backupCode]
    case .refresh: [.refreshToken] + offeredFields
    case .logout: [.refreshToken, .everywhere]
    case .register: [.email, .password, .name, .phoneNumber]
    case .forgotPassword: [.email]
    case .resetPassword: [.token, .password]
    case .verifyEmail: [.token]
    case .changePassword: [.oldPassword, .newPassword]
    case .currentUser: []
    case .updateProfile: [.name, .phoneNumber]
    case .deleteAccount: [.password]
    }
  }

  /// The fields that are only sent where the mapping names them: not every backend has tokens for other audiences and
  /// scopes.
  var offeredFields: [RESTEndpoint.Field] { self == .refresh ? [.audience, .scope] : [] }

  /// Whether a session's access token goes along.
  package var needsSession: Bool {
    switch self {
    case .changePassword, .currentUser, .updateProfile, .deleteAccount: true
    default: false
    }
  }

  /// Whether a code is sent that works once: after a lost reply it may be used up.
  package var spendsCode: Bool { self == .verifyOtp || self == .verifyBackupCode }

  /// Whether the tokens of a session may come back.
  package var givesSession: Bool { spendsCode || self == .login || self == .refresh || self == .register }
}
