/// The step of a delivery that a mail server refused, and its reply code (RFC 5321, section 4.2).
package struct MailRefusal: Sendable, Equatable {
  /// A step of a delivery.
  package enum Step: Sendable, Equatable {
    /// The connection itself.
    case connection
    /// User or password, or every way of sending them that is known here.
    case login
    /// The sender's address.
    case sender
    /// The recipient's address.
    case recipient
    /// The mail.
    case message
  }

  /// The refused step.
  package let step: Step
  /// The reply code; below 400 where the server had no fitting way to log in.
  package let code: Int

  /// Whether the server asks to try again later (RFC 5321, section 4.2.1: 4yz).
  package var isPassing: Bool { (400...499).contains(code) }
}

extension MailRefusal: CustomStringConvertible {
  /// One plain phrase.
  package var description: String {
    switch step {
    case .connection: "the mail server refused the connection (\(code))"
    case .login where code < 400: "the mail server offers no login by user and password"
    case .login: "the mail server refused user or password (\(code))"
    case .sender: "the mail server refused the sender (\(code))"
    case .recipient: "the mail server refused the recipient (\(code))"
    case .message: "the mail server refused the message (\(code))"
    }
  }
}
