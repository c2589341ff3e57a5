/// How long a new password of the embedded provider must be: the provider's rule, and what the command asks for.
public enum PasswordLength {
  /// The fewest characters where the password is the only factor (SP 800-63B-4, section 3.1.1.2).
  public static let fewestCharacters = 15
  /// The fewest where a second factor is asked for as well (same place).
  public static let fewestCharactersWithSecondFactor = 8
  /// The most bytes: what is hashed costs no more than its hash.
  public static let largestByteCount = 1024
}
