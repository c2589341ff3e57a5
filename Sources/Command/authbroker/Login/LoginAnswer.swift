import BrokerProtocol
import JSON

/// What a method answers that goes on with a login, or begins one.
protocol LoginAnswer: JSONEncodable, Sendable {
  /// How far the login came.
  var login: LoginResult { get }
}

extension LoginResult: LoginAnswer {
  /// The result itself.
  var login: LoginResult { self }
}
