import BrokerProtocol
import TestSupport
import Testing

/// What is suggested for a misspelt word.
@Suite(.standardTimeLimit) struct SpellingTests {
  @Test(
    arguments: [
      ("statsu", ["status", "sessions"], "status"), ("--jsno", ["--json", "--scope"], "--json"),
      ("base_url", ["baseUrl"], "baseUrl"), ("top", ["off", "sms", "email", "totp"], "totp"),
      ("shwo", ["show"], "show"),
      ("foo", ["off", "sms", "email", "totp"], nil), ("xyz", ["off", "sms"], nil), ("on", ["off"], nil),
      ("no", ["off"], nil), ("--foo", ["--to", "--id"], nil), ("app", ["all"], nil),
    ] as [(String, [String], String?)])
  func `a word is suggested that is mostly the one that was written`(
    word: String, known: [String], nearest: String?
  ) {
    #expect(Spelling.nearest(to: word, among: known) == nearest)
  }
}
