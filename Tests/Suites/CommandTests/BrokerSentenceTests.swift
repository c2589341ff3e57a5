import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// Sentences of the broker in the form of the command's own.
@Suite(.standardTimeLimit) struct BrokerSentenceTests {
  @Test(arguments: [
    ("The vault is locked.", "the vault is locked"),
    ("A parameter is invalid.", "a parameter is invalid"),
    ("E-mail is not verified.", "e-mail is not verified"),
    ("JSON is expected here.", "JSON is expected here"),
    ("OAuth has no such grant.", "OAuth has no such grant"),
    ("Google refuses the client.", "Google refuses the client"),
    ("Config.json:3: unknown key", "Config.json:3: unknown key"),
    ("/home/Ann is open to others", "/home/Ann is open to others"),
    ("The code has expired. Log in again.", "the code has expired; log in again"),
    ("It took 1.5 s. JSON came then.", "it took 1.5 s; JSON came then"),
    ("see example.com. now", "see example.com. now"),
    ("Is it there?", "is it there?"),
    ("One li\u{1B}ne.", "one li?ne"),
    ("", ""), (".", ""),
  ])
  func `a sentence begins in lower case and has no full stop`(text: String, plain: String) {
    #expect(BrokerSentence.plain(text) == plain)
  }

  @Test(arguments: ErrorKind.allCases)
  func `every kind of error is told in one form`(kind: ErrorKind) {
    let sentence = Advice.message(for: BrokerError(kind)).sentence
    #expect(sentence.first?.isLowercase == true && sentence.last != ".", "\(sentence)")
    #expect(!sentence.contains(". "), "\(sentence)")
  }

  @Test func `to log in again is said once`() {
    var error = BrokerError(.providerRejected, "The code has expired; log in again.")
    error.nextAction = .login
    #expect(Advice.message(for: error).sentence == "the code has expired")
  }

  @Test(arguments: [(0, "0 attempts"), (1, "1 attempt"), (2, "2 attempts")])
  func `a number agrees with its noun`(number: Int, words: String) {
    #expect(number.counted("attempt") == words)
  }

  @Test func `a user is told by the best name that there is`() {
    var session = Session(profile: .default, provider: "oidc", state: .authenticated)
    #expect(session.userWords.isEmpty)
    session.userID = "1"
    #expect(LoginDialogue.welcome(session) == "logged in to default as user 1")
    session.user = User(id: "1", email: "ann@example.com")
    #expect(session.userWords == " as ann@example.com")
  }
}
