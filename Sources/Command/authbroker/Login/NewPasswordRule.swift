import BrokerProtocol
import SecretMemory

/// The known rule of a provider for new passwords, shown before a person types one twice.
struct NewPasswordRule {
  /// Nothing is known.
  static let unknown = NewPasswordRule(hint: "", fewest: 0)

  /// The hint behind the question; empty where nothing is known.
  let hint: String
  /// The fewest characters that any account may have; 0 where nothing is known.
  let fewest: Int

  private init(hint: String, fewest: Int) {
    self.hint = hint
    self.fewest = fewest
  }

  /// The rule of a type of provider.
  ///
  /// - Parameters:
  ///   - provider: the provider's type.
  ///   - hasSecondFactor: whether the account has one; nil: it is not known.
  init(_ provider: String, hasSecondFactor: Bool? = nil) {
    guard provider == EmbeddedProvider.type else {
      self = .unknown
      return
    }
    let (alone, beside) = (PasswordLength.fewestCharacters, PasswordLength.fewestCharactersWithSecondFactor)
    switch hasSecondFactor {
    case true?: self.init(hint: " (at least \(beside) characters)", fewest: beside)
    case false?: self.init(hint: " (at least \(alone) characters)", fewest: alone)
    case nil:
      self.init(hint: " (at least \(alone) characters, or \(beside) beside a second factor)", fewest: beside)
    }
  }

  /// Whether a password is certainly too short; how many characters other bytes than those of ASCII make, the provider
  /// says.
  func isTooShort(_ password: Secret) -> Bool {
    password.withBytes { bytes in bytes.count < fewest && bytes.indices.allSatisfy { bytes[$0] < 0x80 } }
  }
}
