import TestSupport
import Testing

@testable import LocalProvider

/// The list of the most common passwords, and the search in it.
@Suite(.standardTimeLimit) struct CommonPasswordsTests {
  private static let words = CommonPasswords.parts.map { $0.split { $0 == " " || $0 == "\n" }.map(String.init) }

  private static func isCommon(_ text: String) -> Bool { CommonPasswords.contain(text.utf8.span) }
  private static func isPredictable(_ text: String) -> Bool { PasswordPattern.isPredictable(text.utf8.span) }

  @Test func `each part is in the order of its bytes, as the search wants it`() {
    for part in Self.words {
      for (word, next) in zip(part, part.dropFirst()) {
        #expect(word.utf8.lexicographicallyPrecedes(next.utf8), "\(word) \(next)")
      }
    }
    #expect(CommonPasswords.parts.allSatisfy { !$0.contains("  ") && $0.hasSuffix("\n") })
  }

  @Test func `it has words of at least 8 small characters that no pattern finds`() {
    let all = Self.words.joined()
    #expect(all.count >= 3000)
    for word in all {
      #expect(word.utf8.count >= 8 && word == word.lowercased(), "\(word)")
      #expect(!Self.isPredictable(word), "\(word)")
    }
  }

  @Test func `every one of them is found`() {
    #expect(Self.words.joined().allSatisfy(Self.isCommon))
  }

  @Test(arguments: [
    "", " ", "\n", "password", "passwor", "password1 ", "correct horse", "0", "zzzzzzzzzzzz", "qwerty12 ",
  ])
  func `only whole words are found`(_ text: String) {
    #expect(Self.isCommon(text) == (text == "password"))
  }
}
