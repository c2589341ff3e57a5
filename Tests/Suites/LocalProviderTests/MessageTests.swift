import BrokerProtocol
import HTTP
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What messages say, and how they are written as JSON and as mails.
@Suite(.standardTimeLimit) struct MessageTests {
  static let createdAt = Timestamp(milliseconds: 1_800_000_000_000)

  static func contents() throws -> [MessageContent] {
    let secret = try Secret(utf8: "canary-value")
    return [
      .loginCode(secret, lifetime: .seconds(300)), .enrolmentCode(secret, lifetime: .seconds(300)),
      .emailVerification(token: secret, lifetime: .seconds(86400)),
      .passwordReset(token: secret, lifetime: .seconds(1800)), .passwordChanged,
      .emailAddressChangeRequested, .emailAddressChanged, .phoneNumberChanged, .secondFactorChanged,
    ]
  }

  static func message(
    _ content: MessageContent, to recipient: String = "b@example.com", by method: OTPChallenge.Method = .email
  ) throws -> OutboundMessage {
    try OutboundMessage(content, to: recipient, by: method, at: createdAt)
  }

  /// A login code for a phone.
  static func text(_ code: String = "123456", to recipient: String = "+491511234567") throws -> OutboundMessage {
    try message(.loginCode(try Secret(utf8: code), lifetime: .seconds(300)), to: recipient, by: .sms)
  }

  @Test func `every message is plain, and has its code or token once`() throws {
    for content in try Self.contents() {
      let body = try #require(try Self.message(content).body.revealedString())
      let text = "\(content.subject)\n\(body)"
      #expect(text.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) }, "\(content.subject)")
      #expect(!content.subject.contains("\n"))
      let count = text.components("canary-value") - 1
      #expect(count == (content.code == nil && content.token == nil ? 0 : 1), "\(content.subject)")
      #expect(content.code == nil || content.token == nil)
    }
  }

  @Test func `what goes by SMS is one SMS`() throws {
    for content in try Self.contents() where content.token == nil {
      #expect(try Self.message(content, by: .sms).body.byteCount <= 160, "\(content.subject)")
    }
  }

  @Test(arguments: [
    (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (90, "90 seconds"), (300, "5 minutes"), (3600, "1 hour"),
    (86400, "24 hours"),
  ])
  func `a message says when its code expires`(_ seconds: Int, _ words: String) throws {
    let content = MessageContent.loginCode(try Secret(utf8: "123456"), lifetime: .seconds(seconds))
    #expect(
      try Self.message(content).body.revealedString()
        == "Your login code is 123456. It expires in \(words). Never give it to anyone.")
  }

  @Test func `a code by SMS has the domain that it is bound to, and the code, in its last line`() throws {
    let domain = try #require(DomainName("Login.Example.com"))
    let code = try Secret(utf8: "123456")
    let lifetime = Duration.seconds(300)
    for content in [MessageContent.loginCode(code, lifetime: lifetime), .enrolmentCode(code, lifetime: lifetime)] {
      let texts = try [OTPChallenge.Method.sms, .email].map { method in
        try OutboundMessage(content, to: "+491511234567", by: method, at: Self.createdAt, domain: domain)
          .body.revealedString() ?? ""
      }
      #expect(texts[0] == texts[1] + "\n\n@login.example.com #123456")
    }
    let notice = try OutboundMessage(
      .passwordChanged, to: "+491511234567", by: .sms, at: Self.createdAt, domain: domain)
    #expect(notice.body.revealedString()?.contains("@") == false)
  }

  @Test(arguments: [
    "", ".", "a..b", "-a.b", "a-.b", "a b", "a/b", "ä.de", "https://a.b", String(repeating: "a", count: 64),
  ])
  func `what is no host's name is no domain`(_ name: String) { #expect(DomainName(name) == nil) }

  @Test func `the owner's words take the place of the built-in ones, with the code and its time put in`() throws {
    let german = "Ihr Code lautet {code}.\nEr gilt {minutes} Minuten ({lifetime}). Geben Sie ihn niemandem."
    var wording = MessageWording()
    wording.own[.loginCode] = MessageWording.Own(
      subject: "Ihr Code f\u{FC}r heute", template: try MessageTemplate(german, value: .code))
    let content = MessageContent.loginCode(try Secret(utf8: "123456"), lifetime: .seconds(300))
    let message = try OutboundMessage(content, to: "b@example.com", by: .email, at: Self.createdAt, wording: wording)
    #expect(
      message.body.revealedString()
        == "Ihr Code lautet 123456.\nEr gilt 5 Minuten (5 minutes). Geben Sie ihn niemandem.")
    let address = try #require(MailAddress("b@example.com"))
    let mail = try #require(try MailText.written(message, from: address, to: address).revealedString())
    #expect(mail.contains("\r\nSubject: =?utf-8?Q?Ihr=20Code=20f=C3=BCr=20heute?=\r\n"))
    let other = try OutboundMessage(
      .passwordChanged, to: "b@example.com", by: .email, at: Self.createdAt, wording: wording)
    #expect(other.subject == "Your password was changed")
  }

  @Test func `a long subject is encoded in words of whole characters`() {
    let text = MailText.headerText(String(repeating: "\u{20AC}", count: 40))
    let lines = text.split(separator: "\r\n ")
    #expect(lines.count == 6 && lines.allSatisfy { $0.utf8.count <= 75 && $0.hasPrefix("=?utf-8?Q?=E2=82=AC") })
    #expect(MailText.headerText("Your login code") == "Your login code")
  }

  @Test func `as JSON it is one line with the code or the token by its name`() throws {
    for content in try Self.contents() {
      let message = try Self.message(content)
      let line = message.withJSONLine { span in span.indices.map { span[$0] } }
      #expect(line.last == 0x0A && line.count { $0 == 0x0A } == 1)
      let root = try JSONDocument(parsing: Array(line.dropLast())).root
      let names = ["to", "method", "subject", "body"] + (content.code == nil ? [] : ["code"])
      #expect(try root.members().map(\.name) == names + (content.token == nil ? [] : ["token"]) + ["createdAt"])
      #expect(try root.required("to").string() == "b@example.com")
      #expect(try root.required("method").string() == "email")
      #expect(try root.required("subject").string() == content.subject)
      #expect(try root.required("body").string() == message.body.revealedString())
    }
  }

  @Test func `as a mail it has the header that mails must have, and no other value in it`() throws {
    let message = try Self.message(.passwordChanged)
    let sender = try #require(MailAddress("no-reply@mail.example.com"))
    let recipient = try #require(MailAddress("b@example.com"))
    let mail = try #require(try MailText.written(message, from: sender, to: recipient).revealedString())
    let header = try #require(mail.firstRange(of: "\r\n\r\n")).lowerBound
    #expect(
      mail[..<header].split(separator: "\r\n").map(String.init) == [
        "Date: 15 Jan 2027 08:00:00 +0000", "From: <no-reply@mail.example.com>", "To: <b@example.com>",
        "Subject: Your password was changed", "Message-ID: <\(message.id)@mail.example.com>", "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
        "Auto-Submitted: auto-generated",
      ])
    #expect(mail.hasSuffix("\r\n"))
    #expect(try Self.message(.passwordChanged).id != message.id)
  }

  @Test func `a mail's lines are short and end in CRLF, and a token comes out whole`() throws {
    let address = try #require(MailAddress("b@example.com"))
    let token = String(repeating: "abc-_=", count: 40)
    let content = MessageContent.passwordReset(token: try Secret(utf8: token), lifetime: .seconds(1800))
    let message = try Self.message(content)
    let mail = try #require(try MailText.written(message, from: address, to: address).revealedString())
    let lines = mail.split(separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.allSatisfy { $0.utf8.count <= 76 && !$0.contains("\n") && !$0.contains("\r") && $0.last != " " })
    let body = mail[try #require(mail.firstRange(of: "\r\n\r\n")).upperBound...]
    let decoded = body.replacing("=\r\n", with: "").replacing("=3D", with: "=").replacing("\r\n", with: "\n")
    #expect(try decoded == #require(message.body.revealedString()) + "\n")
  }

  @Test(arguments: [
    (0, "1 Jan 1970 00:00:00 +0000"), (951_782_400_000, "29 Feb 2000 00:00:00 +0000"),
    (1_800_000_000_123, "15 Jan 2027 08:00:00 +0000"),
  ])
  func `a mail's date is that of RFC 5322`(_ milliseconds: Int64, _ text: String) {
    #expect(MailText.date(Timestamp(milliseconds: milliseconds)) == text)
  }
}

extension String {
  /// How many parts there are between the places where a text stands.
  fileprivate func components(_ separator: String) -> Int {
    split(separator: separator, omittingEmptySubsequences: false).count
  }
}
