public import JSON

/// One way to log in to a profile, and the parameters of `login` that it needs.
public struct LoginForm: Sendable, Equatable {
  /// The way, as the parameter method of login.
  public var method: LoginMethod
  /// The parameters of login that it needs; none where the user acts elsewhere.
  public var fields: [String]

  public init(method: LoginMethod, fields: [String]) {
    self.method = method
    self.fields = fields
  }

  /// A way with the parameters that it usually needs.
  public init(_ method: LoginMethod) {
    switch method {
    case .password: self.init(method: method, fields: ["email", "password"])
    case .refreshToken: self.init(method: method, fields: ["refreshToken"])
    case .deviceCode, .browser, .clientCredentials: self.init(method: method, fields: [])
    }
  }
}

extension LoginForm: ObjectCodable {
  public static let blank = LoginForm(method: .password, fields: [])

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("method", &method, .name("a known login method"))
    try coder.required("fields", &fields)
  }
}
