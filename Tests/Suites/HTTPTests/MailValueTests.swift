import SecretMemory
import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct MailValueTests {
  @Test(arguments: [
    ("smtps://mail.example.com", "smtps://mail.example.com:465"),
    ("SMTP://Mail.Example.com", "smtp://mail.example.com:587"),
    ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525"), ("smtp://[::1]", "smtp://[::1]:587"),
    ("smtps://[::1]:443", "smtps://[::1]:443"), ("smtps://mail.example.com:443", "smtps://mail.example.com:443"),
  ])
  func `an address of a mail server has the port of its scheme, unless it says another one`(
    _ text: String, _ whole: String
  ) throws {
    #expect(try MailServerURL(text).description == whole)
  }

  @Test(arguments: [
    "", "smtp://", "https://mail.example.com", "mail.example.com", "smtp:mail.example.com", "smtp://mail.example.com/",
    "smtp://mail.example.com/x", "smtp://u:p@mail.example.com", "smtp://mail.example.com?x",
    "smtp://mail.example.com:0",
    "smtp://mail.example.com:65536", "smtp://mail.example.com:", "smtp://127.1", "smtp://mail example.com",
    "smtp://mail.example.com\r\nQUIT", "smtp://ä.example.com",
  ])
  func `what is no address of a mail server is refused`(_ text: String) {
    #expect(throws: HTTPFailure.invalidURL) { _ = try MailServerURL(text) }
  }

  @Test(arguments: ["a@example.com", "a.b+c@example.com", "o'neil@example.com", "ü@exämple.com", "a@localhost"])
  func `a plain address is taken`(_ text: String) {
    #expect(MailAddress(text)?.text == text)
  }

  @Test(arguments: [
    "", "a", "@example.com", "a@", "a@b@example.com", "a b@example.com", "a@example.com\r\nRCPT TO:<x@example.com>",
    "a>@example.com", "<a@example.com>", "\"a b\"@example.com", "a,b@example.com", "a;b@example.com", "a@example..com",
    ".a@example.com", "a.@example.com", "a@[127.0.0.1]", "a\u{0}@example.com", "a\\@example.com", "a(b)@example.com",
    String(repeating: "a", count: 243) + "@example.com",
  ])
  func `an address that could be more than one, or a command, is refused`(_ text: String) {
    #expect(MailAddress(text) == nil)
  }

  @Test func `in the clear a mail goes to this machine only`() throws {
    func startsTLS(_ url: String, wanted: Bool = false) throws -> Bool {
      let address = try MailTests.address("a@example.com")
      return Mail(
        via: try MailServerURL(url), from: address, to: address, content: try secret("x"), startsTLS: wanted
      ).startsTLS
    }
    #expect(try startsTLS("smtp://mail.example.com"))
    #expect(try !startsTLS("smtp://localhost"))
    #expect(try !startsTLS("smtp://127.0.0.1"))
    #expect(try startsTLS("smtp://localhost", wanted: true))
    #expect(try !startsTLS("smtps://mail.example.com", wanted: true), "it is TLS from the start")
  }

  @Test func `a refusal says what was refused, and whether it passes`() {
    let texts = [
      (MailRefusal(step: .connection, code: 421), "the mail server refused the connection (421)", true),
      (MailRefusal(step: .login, code: 535), "the mail server refused user or password (535)", false),
      (MailRefusal(step: .login, code: 250), "the mail server offers no login by user and password", false),
      (MailRefusal(step: .sender, code: 550), "the mail server refused the sender (550)", false),
      (MailRefusal(step: .recipient, code: 451), "the mail server refused the recipient (451)", true),
      (MailRefusal(step: .message, code: 552), "the mail server refused the message (552)", false),
    ]
    for (refusal, text, isPassing) in texts {
      #expect(refusal.description == text && refusal.isPassing == isPassing)
      #expect(HTTPFailure.mailRefused(refusal).description == text)
    }
  }

  @Test func `a name and a password are sent as they are, or form-encoded`() throws {
    func encoded(_ encoding: ClientCredentials.Encoding) throws -> String {
      var text = ""
      ClientCredentials(id: "a b", secret: try secret("p:ä"), encoding: encoding).encode { bytes in
        text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      }
      return text
    }
    #expect(try encoded(.plain) == "YSBiOnA6w6Q=")
    #expect(try encoded(.form) == "YStiOnAlM0ElQzMlQTQ=")
  }
}
