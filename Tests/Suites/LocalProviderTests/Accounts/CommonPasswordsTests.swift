import TestSupport
import Testing

@testable import LocalProvider

/// The list of the most common passwords, and the search in it.
@Suite(.standardTimeLimit) struct CommonPasswordsTests {
  private static let words = String(decoding: CommonPasswords.list, as: UTF8.self)
    .split(separator: "\n").map(String.init)

  private static func isCommon(_ text: String) -> Bool { CommonPasswords.contain(text.utf8.span) }
  private static func isPredictable(_ text: String) -> Bool { PasswordPattern.isPredictable(text.utf8.span) }

  @Test func `it is in the order of its bytes, as the search wants it`() {
    for (word, next) in zip(Self.words, Self.words.dropFirst()) {
      #expect(word.utf8.lexicographicallyPrecedes(next.utf8), "\(word) \(next)")
    }
    #expect(CommonPasswords.list.last == UInt8(ascii: "\n"))
    #expect(CommonPasswords.list.count { $0 == 0x0A } == Self.words.count)
  }

  @Test func `it has words of at least 8 small characters that no pattern finds`() {
    let all = Self.words
    #expect(all.count >= 3000)
    for word in all {
      #expect(word.utf8.count >= 8 && word == word.lowercased(), "\(word)")
      #expect(!Self.isPredictable(word), "\(word)")
    }
  }

  @Test func `every one of them is found`() {
    #expect(Self.words.allSatisfy(Self.isCommon))
  }

  @Test(arguments: [
    "", " ", "\n", "password", "passwor", "password1 ", "correct horse", "0", "zzzzzzzzzzzz", "qwerty12 ",
  ])
  func `only whole words are found`(_ text: String) {
    #expect(Self.isCommon(text) == (text == "password"))
  }
}
