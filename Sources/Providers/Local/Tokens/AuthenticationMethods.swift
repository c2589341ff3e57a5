/// The methods by which the user of a session has authenticated, in the words of RFC 8176, section 2.
struct AuthenticationMethods: Equatable {
  /// The words, joined by spaces; empty where that was not noted.
  let text: String

  /// Methods that were read before.
  init(stored text: String) { self.text = text }

  /// By a password alone.
  static let password = AuthenticationMethods(stored: "pwd")
  /// By a password and a code in an SMS.
  static let passwordAndSMS = AuthenticationMethods(stored: "pwd sms mfa")
  /// By a password and another code that works once; RFC 8176 has no word of its own for one in an e-mail.
  static let passwordAndCode = AuthenticationMethods(stored: "pwd otp mfa")

  /// The words.
  var names: [String] { text.split(separator: " ").map(String.init) }
}
