import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// What git reads.
@Suite(.standardTimeLimit) struct GitAnswerTests {
  private static func token(_ text: String = "made-up", expires: Int64? = 1_800_000_000_999) throws -> AccessToken {
    AccessToken(
      accessToken: try Secret(utf8: text), expiresAt: expires.map(Timestamp.init(milliseconds:)), scopes: [],
      profile: .default, tokenID: "k3v9")
  }

  private static func text(_ answer: GitAnswer) -> String? {
    answer.bytes().map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `an old git gets user name, password and expiry`() throws {
    let answer = GitAnswer(
      token: try Self.token(), form: .password(username: "oauth2"), capabilities: [], mayAskAgain: true)
    #expect(Self.text(answer) == "username=oauth2\npassword_expiry_utc=1800000000\npassword=made-up")
  }

  @Test func `a new git gets the capabilities first, and is asked to come back once`() throws {
    var answer = GitAnswer(
      token: try Self.token(expires: nil), form: .credential(authtype: "Bearer"), capabilities: ["state", "authtype"],
      mayAskAgain: true)
    #expect(
      Self.text(answer) == """
        capability[]=authtype
        capability[]=state
        authtype=Bearer
        ephemeral=1
        state[]=authbroker:k3v9
        continue=1
        credential=made-up
        """)
    answer.mayAskAgain = false
    #expect(Self.text(answer)?.contains("continue") == false)
    answer.capabilities = ["state"]
    #expect(Self.text(answer)?.contains("capability[]=authtype") == false)
  }

  @Test(arguments: ["made\nup", "made\rup", "made\u{0}up"])
  func `a value that is not one line is refused`(bad: String) throws {
    let password = GitAnswer(
      token: try Self.token(bad), form: .password(username: nil), capabilities: [], mayAskAgain: false)
    #expect(Self.text(password) == nil)
    let username = GitAnswer(
      token: try Self.token(), form: .password(username: bad), capabilities: [], mayAskAgain: false)
    #expect(Self.text(username) == nil)
  }
}
