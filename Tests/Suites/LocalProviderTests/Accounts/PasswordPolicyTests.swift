import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Which passwords an account may have, and all that is wrong with the others at once.
@Suite(.standardTimeLimit) struct PasswordPolicyTests {
  private static func verdict(
    _ password: String, hasSecondFactor: Bool = true, email: String = "ada@example.com", name: String? = "Ada Lovelace"
  ) throws -> PasswordPolicy.Verdict {
    try PasswordPolicy(hasSecondFactor: hasSecondFactor).judge(Secret(utf8: password), email: email, name: name)
  }

  @Test(arguments: [
    "correct horse battery staple", "k8#mQ2xz", "        x", "пароль-и-конь", "日本語のとても長い秘密",
    "P4ssphrase with \u{0} inside",
  ])
  func `a password of eight characters of any kind is accepted with a second factor`(_ password: String) throws {
    #expect(try Self.verdict(password) == .accepted(Secret(utf8: password)))
  }

  @Test func `without a second factor fifteen characters are needed`() throws {
    #expect(try Self.verdict("k8#mQ2xzLw7pVt", hasSecondFactor: false) == .refused([.tooShort]))
    let password = "k8#mQ2xzLw7pVtR"
    #expect(try Self.verdict(password, hasSecondFactor: false) == .accepted(Secret(utf8: password)))
  }

  @Test func `characters are counted in the form that is hashed, and that form is the result`() throws {
    // Seven letters, one of them typed as two.
    #expect(try Self.verdict("k8mQ2xe\u{301}") == .refused([.tooShort]))
    #expect(try Self.verdict("k8mQ2xwe\u{301}") == .accepted(Secret(utf8: "k8mQ2xw\u{E9}")))
  }

  @Test func `a password has up to 1024 bytes`() throws {
    let longest = String(repeating: "correct horse 7 ", count: 64)
    #expect(try Self.verdict(longest) == .accepted(Secret(utf8: longest)))
    #expect(try Self.verdict(longest + "x") == .refused([.tooLong]))
    // It grows threefold as it is composed.
    #expect(try Self.verdict(String(repeating: "\u{1D160}", count: 200)) == .refused([.tooLong]))
  }

  @Test func `bytes that are no text are refused`() throws {
    let bytes = [UInt8](repeating: 0xFF, count: 20)
    let verdict = try PasswordPolicy(hasSecondFactor: true).judge(
      Secret(copying: bytes.span), email: "ada@example.com", name: nil)
    #expect(verdict == .refused([.notText]))
  }

  @Test(arguments: ["password1", "PassWord1", "iloveyou", "1Q2w3e4r5T", "manchesterunited"])
  func `what everybody takes is refused in small letters and capitals`(_ password: String) throws {
    #expect(try Self.verdict(password) == .refused([.common]))
  }

  @Test(arguments: ["ada.lovelace@example.com", "Ada.Lovelace", "Augusta Ada King", "augustaadaking"])
  func `the account's own address and name are refused`(_ password: String) throws {
    #expect(
      try Self.verdict(password, email: "ada.lovelace@example.com", name: "Augusta Ada King") == .refused([.personal]))
  }

  @Test func `all that is wrong is told at once`() throws {
    let verdict = try Self.verdict("abcd", email: "abcd@example.com")
    #expect(verdict == .refused([.tooShort, .predictable, .personal]))
    #expect(try Self.verdict("", name: nil) == .refused([.tooShort]))
  }
}
