import SecretMemory
import TestSupport
import Testing

@testable import HTTP

/// Mails against a peer that follows a script, byte by byte.
@Suite(.standardTimeLimit) struct MailTests {
  typealias Step = ScriptedServer.Step

  /// The server's part up to the answer to EHLO.
  static let hello: [Step] = [.send("220 mail ready\r\n"), .line, .send("250 mail\r\n")]
  /// The rest of a mail that is taken.
  static let taken: [Step] = [
    .line, .send("250 OK\r\n"), .line, .send("250 OK\r\n"), .line, .send("354 go on\r\n"), .mail,
    .send("250 queued\r\n"), .line, .send("221 bye\r\n"),
  ]
  static let content = "Subject: Code\r\n\r\n.It is 123456.\r\n"

  static func mail(
    via server: ScriptedServer, login: Mail.Login? = nil, startsTLS: Bool = false,
    to recipient: String = "b@example.com"
  ) throws -> Mail {
    Mail(
      via: try server.mailServer(), from: try address("no-reply@example.com"), to: try address(recipient),
      content: try secret(content), login: login, startsTLS: startsTLS)
  }

  static func address(_ text: String) throws -> MailAddress { try #require(MailAddress(text)) }

  static func send(_ mail: Mail, _ client: HTTPClient) async -> HTTPFailure? {
    do throws(HTTPFailure) {
      try await MailTransport(client, policy: TLSPolicy(caFile: ScriptedServer.caFile)).send(mail)
      return nil
    } catch { return error }
  }

  @Test func `a mail arrives as it was meant, on a connection of its own`() async throws {
    let server = ScriptedServer(.plain, Self.hello + Self.taken)
    let client = try client()
    for _ in 1...2 { #expect(await Self.send(try Self.mail(via: server), client) == nil) }
    #expect(server.connections == 2)
    let lines = server.requests
    #expect(lines.count == 12 && lines.prefix(6) == lines.suffix(6))
    #expect(lines[0].hasPrefix("EHLO "))
    #expect(lines[1] == "MAIL FROM:<no-reply@example.com>")
    #expect(lines[2] == "RCPT TO:<b@example.com>")
    #expect(lines[3] == "DATA")
    #expect(lines[4] == "Subject: Code\r\n\r\n..It is 123456.", "a dot in front is doubled (RFC 5321, section 4.5.2)")
    #expect(lines[5] == "QUIT")
  }

  @Test func `a user logs in before the mail, by name and password`() async throws {
    let login: [Step] = [
      .send("220 mail ready\r\n"), .line, .send("250-mail\r\n250 AUTH GSSAPI NTLM LOGIN PLAIN\r\n"), .line,
      .send("334 \r\n"), .line, .send("235 welcome\r\n"),
    ]
    let server = ScriptedServer(.plain, login + Self.taken)
    let user = Mail.Login(user: "ann", password: try secret("pw"))
    #expect(await Self.send(try Self.mail(via: server, login: user), try client()) == nil)
    #expect(Array(server.requests[1...3]) == ["AUTH PLAIN", "AGFubgBwdw==", "MAIL FROM:<no-reply@example.com>"])
  }

  @Test(arguments: [ScriptedServer.Face.plain, .good])
  func `a mail goes over TLS, by STARTTLS or from the start`(_ face: ScriptedServer.Face) async throws {
    let start: [Step] = [.send("220 mail ready\r\n"), .line, .send("250-mail\r\n250 STARTTLS\r\n"), .line]
    let secured: [Step] = [.send("220 go on\r\n"), .secure(.good), .line, .send("250 mail\r\n")]
    let server = ScriptedServer(face, (face == .plain ? start + secured : Self.hello) + Self.taken)
    #expect(await Self.send(try Self.mail(via: server, startsTLS: true), try client()) == nil)
    let handshake = try #require(server.ledger.firstIndex { $0.hasPrefix("handshake") })
    let commands = server.ledger[..<handshake].count { $0.hasPrefix("request") }
    #expect(commands == (face == .plain ? 2 : 0), "all but EHLO and STARTTLS are secret")
  }

  @Test func `without STARTTLS nothing is said that is secret`() async throws {
    let server = ScriptedServer(.plain, Self.hello + [.wait])
    let user = Mail.Login(user: "ann", password: try secret("pw"))
    let failure = await Self.send(try Self.mail(via: server, login: user, startsTLS: true), try client())
    #expect(failure == .tlsFailed(.protocolVersion))
    #expect(server.requests.allSatisfy { $0.hasPrefix("EHLO ") || $0.hasPrefix("QUIT") })
  }

  @Test(arguments: [
    (ScriptedServer.Face.selfSigned, HTTPFailure.tlsFailed(.untrusted)), (.expired, .tlsFailed(.expired)),
    (.otherHost, .tlsFailed(.hostMismatch)),
  ])
  func `a certificate that is not trusted gets no mail`(_ face: ScriptedServer.Face, _ expected: HTTPFailure)
    async throws
  {
    let start: [Step] = [
      .send("220 mail ready\r\n"), .line, .send("250-mail\r\n250 STARTTLS\r\n"), .line, .send("220 go on\r\n"),
      .secure(face), .wait,
    ]
    for server in [ScriptedServer(face, Self.hello + Self.taken), ScriptedServer(.plain, start)] {
      #expect(await Self.send(try Self.mail(via: server, startsTLS: true), try client()) == expected)
      #expect(!server.requests.contains { $0.contains("MAIL") })
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let step: MailRefusal.Step
    let code: Int
    let script: [Step]
    var testDescription: String { "\(step) \(code)" }

    static let all = [
      Refusal(step: .connection, code: 421, script: [.send("421 busy\r\n"), .close]),
      Refusal(
        step: .connection, code: 550,
        script: [.send("220 x\r\n"), .line, .send("550 no\r\n"), .line, .send("550 no\r\n"), .line]),
      Refusal(step: .sender, code: 550, script: hello + [.line, .send("550 no\r\n"), .line]),
      Refusal(
        step: .recipient, code: 451, script: hello + [.line, .send("250 OK\r\n"), .line, .send("451 x\r\n"), .line]),
      Refusal(
        step: .message, code: 554,
        script: hello + [.line, .send("250 OK\r\n"), .line, .send("250 OK\r\n"), .line, .send("554 x\r\n"), .line]),
      Refusal(step: .message, code: 552, script: hello + taken.prefix(7) + [.send("552 large\r\n"), .line]),
    ]
  }

  @Test(arguments: Refusal.all) func `a refusal is told with its step and its code`(_ refusal: Refusal) async throws {
    let server = ScriptedServer(.plain, refusal.script)
    let failure = await Self.send(try Self.mail(via: server), try client())
    #expect(failure == .mailRefused(MailRefusal(step: refusal.step, code: refusal.code)))
    #expect(failure?.requestMayHaveArrived == false)
  }

  @Test(arguments: [("AUTH PLAIN", 535), ("AUTH CRAM-MD5", 250)])
  func `a refused login is told, and no mail is sent`(_ offer: String, _ code: Int) async throws {
    let server = ScriptedServer(
      .plain,
      [.send("220 x\r\n"), .line, .send("250-mail\r\n250 \(offer)\r\n"), .line, .send("535 no\r\n"), .wait])
    let user = Mail.Login(user: "ann", password: try secret("pw"))
    let failure = await Self.send(try Self.mail(via: server, login: user), try client())
    #expect(failure == .mailRefused(MailRefusal(step: .login, code: code)))
    #expect(!server.requests.contains { $0.contains("MAIL") })
  }

  @Test func `a server that goes away or is not there is told apart by whether the mail may have arrived`() async throws
  {
    let early = ScriptedServer(.plain, [.send("220 x\r\n"), .line, .close])
    #expect(await Self.send(try Self.mail(via: early), try client()) == .connectionLost(sent: false))
    let late = ScriptedServer(.plain, Self.hello + Self.taken.prefix(7) + [.close])
    #expect(await Self.send(try Self.mail(via: late), try client()) == .connectionLost(sent: true))
    let gone = ScriptedServer(.plain, [.close])
    gone.close()
    #expect(await Self.send(try Self.mail(via: gone), try client()) == .connectFailed)
  }

  @Test func `a silent server is given up in time`() async throws {
    let silent = ScriptedServer(.plain, [.wait])
    #expect(
      await Self.send(try Self.mail(via: silent), try client(interactive: .milliseconds(300)))
        == .timedOut(sent: false))
    for timeout in Patience.timeouts(from: .milliseconds(500)) {
      let late = ScriptedServer(.plain, Self.hello + Self.taken.prefix(7) + [.wait])
      let failure = await Self.send(try Self.mail(via: late), try client(interactive: timeout))
      if failure == .timedOut(sent: true) { return }
      #expect(failure == .timedOut(sent: false), "the machine was too slow")
    }
    Issue.record("no time-out came after the mail")
  }

  @Test func `endless answers are given up`() async throws {
    let server = ScriptedServer(.plain, [.send("220 x\r\n"), .line, .flood("250-more\r\n")])
    let failure = await Self.send(try Self.mail(via: server), try client())
    #expect(failure == .responseTooLarge)
  }

  @Test func `a password that cannot be sent, or too large a mail, reaches nobody`() async throws {
    let server = ScriptedServer(.plain, Self.hello + Self.taken)
    let user = Mail.Login(user: "ann", password: try secret("p\0w"))
    #expect(await Self.send(try Self.mail(via: server, login: user), try client()) == .setUpFailed)
    var limits = HTTPLimits()
    limits.requestBytes = Self.content.utf8.count - 1
    #expect(await Self.send(try Self.mail(via: server), try client(limits: limits)) == .requestTooLarge)
    #expect(server.connections == 0)
  }

  @Test func `a mail is cancelled with its task`() async throws {
    let server = ScriptedServer(.plain, [.wait])
    let client = try client()
    let mail = try Self.mail(via: server)
    let task = Task { await Self.send(mail, client) }
    try await OwnThread.run { _ = Patience.wait { server.connections == 1 } }
    task.cancel()
    #expect(await task.value == .cancelled(sent: false))
  }
}

extension ScriptedServer {
  /// The server as one for mail.
  func mailServer() throws -> MailServerURL {
    try MailServerURL("\(face == .plain ? "smtp" : "smtps")://localhost:\(port)")
  }
}
