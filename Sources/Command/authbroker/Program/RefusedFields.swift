import BrokerProtocol
import StateDirectory

/// Says in plain words which values of an account a provider does not take, and what they must be where that is known.
enum RefusedFields {
  private static let passwordRule =
    "it must have at least \(PasswordLength.fewestCharacters) characters "
    + "(\(PasswordLength.fewestCharactersWithSecondFactor) beside a second factor) and at most "
    + "\(PasswordLength.largestByteCount) bytes, and be no common or predictable one, nor your name or address"

  /// The rules of the embedded provider, by the names on the wire.
  private static let rules = [
    "email": "it must be one address such as ann@example.com", "password": passwordRule, "newPassword": passwordRule,
    "name": "it must have at most 256 bytes, and no control or invisible characters",
    "phoneNumber": "it must begin with + and the country's code, such as +4912345678",
    "twoFactor": "it must be off, email, totp, or sms where the account has a phone number",
    "token": "it is wrong, was used before or has expired",
  ]

  private static let words = [
    "email": "the e-mail address", "password": "the password", "newPassword": "the new password", "name": "the name",
    "phoneNumber": "the phone number", "twoFactor": "the second factor", "token": "the token",
  ]

  /// Whether a text can be an address at any provider: something before and after its last `@`, no white space inside.
  ///
  /// Whether it receives mail, only mail can tell.
  static func isAddress(_ text: String) -> Bool {
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
    var bytes = Array(text.utf8)
    while let last = bytes.last, blanks.contains(last) { bytes.removeLast() }
    let rest = bytes.drop(while: blanks.contains)
    guard rest.count <= longestAddress, let at = rest.lastIndex(of: UInt8(ascii: "@")) else { return false }
    return at > rest.startIndex && at < rest.endIndex - 1 && rest.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  /// RFC 5321, section 4.5.3.1.3: a path of 256 octets, without its angle brackets.
  private static let longestAddress = 254

  /// The message for a string that is no address.
  static func notAnAddress(_ text: String) -> String {
    "\(text.shellQuoted) is not an e-mail address; give one such as ann@example.com"
  }

  /// A failure with the values that a provider does not take in plain words.
  ///
  /// - Parameters:
  ///   - failure: the failure.
  ///   - provider: the provider's type.
  /// - Returns: the failure as it is where it names no value.
  static func explained(_ failure: CommandFailure, _ provider: String) -> CommandFailure {
    guard let error = failure.error, let sentence = sentence(error, provider) else { return failure }
    return failure.saying(Message(sentence))
  }

  /// The sentence for a refusal; nil where it names no field.
  private static func sentence(_ error: BrokerError, _ provider: String) -> String? {
    guard error.kind == .validationFailed, let fields = error.fields, !fields.isEmpty else { return nil }
    let names = fields.map { words[$0] ?? PlainText.line($0.utf8) }
    guard provider == EmbeddedProvider.type, fields.allSatisfy({ rules[$0] != nil }) else {
      let first = names.dropLast().joined(separator: ", ")
      let list = (first.isEmpty ? "" : first + " and ") + names[names.count - 1]
      return "the provider does not accept \(list); ask its operator what it accepts"
    }
    let told = zip(names, fields).map { "\($0): \(rules[$1] ?? "")" }
    return "the provider does not accept " + told.joined(separator: "; nor ")
  }
}
