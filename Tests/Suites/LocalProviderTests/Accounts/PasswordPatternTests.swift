import TestSupport
import Testing

@testable import LocalProvider

/// Repetitions and runs.
@Suite(.standardTimeLimit) struct PasswordPatternTests {
  private static func isPredictable(_ text: String) -> Bool { PasswordPattern.isPredictable(text.utf8.span) }

  @Test(arguments: [
    "aaaaaaaa", "abababab", "abcabcabc", "20262026", "ééééé", "日日日日", "12345678", "123456789012345", "87654321",
    "09876543210", "abcdefgh", "zyxwvuts", "qwertyuiop", "lkjhgfdsa", "abcd1234", "aaaa4321bbbb", "11112222",
    "qwerasdf",
  ])
  func `repetitions and runs are found`(_ text: String) {
    #expect(Self.isPredictable(text))
  }

  @Test(arguments: [
    "", "a", "abc", "correct horse", "abcdabce", "12345679x", "aabbccdd", "abc12345", "1234-5678", "acegikmo",
    "пароль12",
  ])
  func `anything else is not`(_ text: String) {
    #expect(!Self.isPredictable(text))
  }
}
