import BrokerProtocol
import SecretMemory

/// The policy for new passwords (SP 800-63B-4, section 3.1.1.2).
///
/// There is a minimum length and a list of common passwords, but no rule on kinds of characters. White space counts,
/// and nothing is cut off.
struct PasswordPolicy {
  /// The minimum length where a second factor is asked for as well.
  static let fewestCharactersWithSecondFactor = PasswordLength.fewestCharactersWithSecondFactor
  /// The minimum length where the password is the only factor.
  static let fewestCharactersAlone = PasswordLength.fewestCharacters
  /// The most bytes that are hashed, so that a password costs no more than its hash.
  static let largestByteCount = PasswordLength.largestByteCount

  /// An objection to a password.
  enum Objection: Hashable, CaseIterable {
    /// It has fewer characters than ``PasswordPolicy/fewestCharacters``.
    case tooShort
    /// It has more bytes than ``PasswordPolicy/largestByteCount``.
    case tooLong
    /// Its bytes are not UTF-8.
    case notText
    /// It is one of the most common passwords (``CommonPasswords``).
    case common
    /// It is a repetition or a run, such as `abcd1234` (``PasswordPattern``).
    case predictable
    /// It is the account's e-mail address, the part before its `@`, or the account's name.
    case personal
  }

  /// The result of the examination.
  enum Verdict: Equatable {
    /// The password is good; the value is its normalised form, which is hashed.
    case accepted(Secret)
    /// Everything that is wrong with the password.
    case refused(Set<Objection>)

    /// The normalised password; nil where it is refused.
    var password: Secret? {
      switch self {
      case .accepted(let password): password
      case .refused: nil
      }
    }
  }

  /// The minimum length, in Unicode code points.
  let fewestCharacters: Int

  /// The policy for an account.
  init(hasSecondFactor: Bool) {
    fewestCharacters = hasSecondFactor ? Self.fewestCharactersWithSecondFactor : Self.fewestCharactersAlone
  }

  /// Judges a new password.
  ///
  /// - Parameters:
  ///   - password: as it was typed.
  ///   - email: the account's address.
  ///   - name: the account's name, where it has one.
  /// - Returns: the normalised password, or everything that is wrong with it.
  /// - Throws: `SecretMemoryExhausted`.
  func judge(_ password: Secret, email: String, name: String?) throws(SecretMemoryExhausted) -> Verdict {
    guard password.byteCount <= Self.largestByteCount else { return .refused([.tooLong]) }
    guard let normalized = try NormalizedPassword.make(password) else { return .refused([.notText]) }
    guard normalized.byteCount <= Self.largestByteCount else { return .refused([.tooLong]) }
    let objections = objections(to: normalized, personal: Self.personalWords(email: email, name: name))
    return objections.isEmpty ? .accepted(normalized) : .refused(objections)
  }

  private func objections(to password: Secret, personal: [[UInt8]]) -> Set<Objection> {
    var letters = [UInt8](repeating: 0, count: password.byteCount)
    defer { wipe(&letters) }
    password.withBytes { bytes in
      for index in bytes.indices { letters[index] = bytes[index].inLowerCase }
    }
    var objections: Set<Objection> = []
    // A code point has one byte that does not continue another (RFC 3629, section 3).
    if letters.count(where: { $0 & 0xC0 != 0x80 }) < fewestCharacters { objections.insert(.tooShort) }
    if CommonPasswords.contain(letters.span) { objections.insert(.common) }
    if PasswordPattern.isPredictable(letters.span) { objections.insert(.predictable) }
    if personal.contains(letters) { objections.insert(.personal) }
    return objections
  }

  /// The words that anyone who knows the account would try, in small letters.
  private static func personalWords(email: String, name: String?) -> [[UInt8]] {
    let localPart = email.split(separator: "@").first.map(String.init) ?? email
    let name = name ?? ""
    return [email, localPart, name, name.filter { !$0.isWhitespace }].filter { !$0.isEmpty }.map { word in
      word.utf8.map(\.inLowerCase)
    }
  }
}

extension UInt8 {
  /// A byte of a text, the capitals of ASCII as small letters.
  fileprivate var inLowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
