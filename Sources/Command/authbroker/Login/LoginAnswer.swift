import BrokerProtocol
import JSON

/// The answer of a method that begins a login or goes on with one.
protocol LoginAnswer: JSONEncodable, Sendable {
  /// How far the login came.
  var login: LoginResult { get }
}

extension LoginResult: LoginAnswer {
  /// The result itself.
  var login: LoginResult { self }
}
