import BrokerProtocol

/// Chooses the method of a login.
enum LoginMethodChoice {
  /// The method that a client names, or the first that the provider offers and the given credentials fit.
  ///
  /// Credentials are never passed over: a caller that gives a password does not mean a browser.
  static func method(
    for params: Login.Params, offered: [LoginForm], profile: ProfileName
  ) throws(BrokerError) -> LoginMethod {
    guard let name = params.method else { return try usual(params, offered, profile) }
    guard let method = LoginMethod(rawValue: name) else {
      let known = LoginMethod.allCases.map(\.rawValue).joined(separator: ", ")
      throw BrokerError(.invalidParams, "The parameter /method must be one of \(known).", pointer: "/method")
    }
    guard let form = offered.first(where: { $0.method == method }) else {
      let ways = offered.map(\.method.rawValue).joined(separator: ", ")
      throw BrokerError(
        .unsupportedByProvider,
        "This profile does not support the login method \(method.rawValue); use one of: \(ways).", profile: profile
      )
    }
    switch method {
    case .password where !hasPasswordParts(params), .refreshToken where params.refreshToken == nil:
      throw missing(form.fields, profile)
    default: return method
    }
  }

  /// The method by which the user of a session authenticates again: the given password, or else at another device or in
  /// a browser.
  ///
  /// - Throws: `unsupportedByProvider`; `missingCredential` where the provider offers nothing but passwords.
  static func proofMethod(
    withPassword hasPassword: Bool, offered: [LoginMethod], profile: ProfileName
  ) throws(BrokerError) -> LoginMethod {
    if hasPassword {
      guard offered.contains(.password) else {
        throw BrokerError(
          .unsupportedByProvider, "The provider of this profile does not support passwords.", profile: profile)
      }
      return .password
    }
    if let method = offered.first(where: { $0 == .browser || $0 == .deviceCode }) { return method }
    guard offered.contains(.password) else { throw BrokerError(.unsupportedByProvider, profile: profile) }
    throw missing(["password"], profile)
  }

  private static func usual(
    _ params: Login.Params, _ offered: [LoginForm], _ profile: ProfileName
  ) throws(BrokerError) -> LoginMethod {
    if let form = offered.first(where: { fits($0.method, params) }) { return form.method }
    let password = offered.first { $0.method == .password }
    // The provider knows best what is missing beside an address.
    if params.refreshToken == nil, password != nil, hasPasswordParts(params) { return .password }
    if params.refreshToken != nil || password == nil, hasSecret(params) {
      throw BrokerError(
        .unsupportedByProvider, "The provider of this profile does not support a login with these credentials.",
        profile: profile)
    }
    throw missing(password?.fields ?? LoginForm(.refreshToken).fields, profile)
  }

  private static func fits(_ method: LoginMethod, _ params: Login.Params) -> Bool {
    switch method {
    case .password: params.password != nil && params.refreshToken == nil
    case .refreshToken: params.refreshToken != nil && params.password == nil
    case .deviceCode, .browser, .clientCredentials: !hasSecret(params)
    }
  }

  private static func hasSecret(_ params: Login.Params) -> Bool {
    params.password != nil || params.refreshToken != nil
  }

  private static func hasPasswordParts(_ params: Login.Params) -> Bool {
    params.password != nil || params.email != nil || params.phoneNumber != nil
  }

  /// The error of credentials that were not given.
  private static func missing(_ fields: [String], _ profile: ProfileName) -> BrokerError {
    var error = BrokerError(.missingCredential, profile: profile, pointer: fields.last.map { "/" + $0 })
    error.fields = fields
    return error
  }
}
