import LinuxSystem
import SecretMemory
import TestSupport
import Testing

import TextCoding
@testable import authbroker

/// The server that a tool sends its token to, without a network.
@Suite(.standardTimeLimit) struct ProbeTests {
  private static let token = "made-up.token-of_tests~1+2/3"

  private func search() throws -> TokenSearch { TokenSearch(token: try Secret(utf8: Self.token)) }

  private func conversation(_ dialect: ProbeConversation.Dialect) throws -> ProbeConversation {
    ProbeConversation(dialect, challenge: "Basic realm=\"probe\"", try search())
  }

  private func base64(_ text: String) -> String {
    var bytes: [UInt8] = []
    Base64.append(Array(text.utf8).span, as: .padded, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a token is found as a word, and inside Base64`() throws {
    let search = try search()
    let there = [
      Self.token, "Authorization: Bearer \(Self.token)\r\n", "token=\(Self.token)&x=y",
      "1 LOGIN \"a\" \"\(Self.token)\"",
      "Authorization: Basic \(base64("me:\(Self.token)"))\r\n",
      "AUTH OAUTHBEARER \(base64("n,a=me,\u{1}auth=Bearer \(Self.token)\u{1}\u{1}"))\r\n",
    ]
    for text in there { #expect(search.finds(in: Array(text.utf8)[...]), "\(text)") }
    let missing = [
      "", "x\(Self.token)", "\(Self.token)x", String(Self.token.dropLast()), "Basic \(base64("me:other"))",
      "Basic \(base64("me:\(Self.token)x"))",
    ]
    for text in missing { #expect(!search.finds(in: Array(text.utf8)[...]), "\(text)") }
  }

  @Test func `a request without the token is asked for it, and one with it finds nothing`() throws {
    var first = try conversation(.http)
    #expect(first.greeting.isEmpty)
    #expect(first.received(Array("GET / HTTP/1.1\r\nHost: x\r\n".utf8)) == .init())
    let challenge = first.received(Array("Authorization: Basic \(base64("me:"))\r\n\r\n".utf8))
    #expect(challenge.closes && !first.sawToken)
    let text = String(decoding: challenge.bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 401 ") && text.contains("\r\nWWW-Authenticate: Basic realm=\"probe\"\r\n"))
    var second = try conversation(.http)
    let answer = second.received(Array("GET / HTTP/1.1\r\nHost: x\r\nauthorization: Bearer \(Self.token)\r\n\r\n".utf8))
    #expect(second.sawToken && answer.closes && answer.bytes.starts(with: "HTTP/1.1 404 ".utf8))
  }

  @Test func `a body is waited for, and one that is announced is asked for`() throws {
    var conversation = try conversation(.http)
    let body = "subject_token=\(Self.token)"
    let head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    #expect(conversation.received(Array(head.utf8)).bytes == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    #expect(conversation.received(Array(body.utf8)).closes && conversation.sawToken)
  }

  @Test func `a body in chunks is waited for`() throws {
    var conversation = try conversation(.http)
    let chunk = String(Self.token.utf8.count, radix: 16) + "\r\n\(Self.token)\r\n"
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(conversation.received(Array((head + chunk).utf8)) == .init())
    #expect(conversation.received(Array("0\r\n\r\n".utf8)).closes && conversation.sawToken)
  }

  @Test(arguments: ["-1", "99999999999999999999", "x"])
  func `a length that is none ends nothing but the connection`(length: String) throws {
    var conversation = try conversation(.http)
    _ = conversation.received(Array("POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\n".utf8))
    let flood = conversation.received([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 19))
    #expect(flood.closes && !conversation.sawToken)
  }

  @Test func `TLS is told that there is none`() throws {
    var conversation = try conversation(.http)
    let answer = conversation.received([0x16, 0x03, 0x01])
    #expect(conversation.sawTLS && !conversation.sawToken && answer.closes)
    #expect(answer.bytes.starts(with: "HTTP/1.1 400 ".utf8))
  }

  @Test func `a mail server refuses every login`() throws {
    var smtp = try conversation(.smtp)
    #expect(smtp.greeting.starts(with: "220 ".utf8))
    #expect(String(decoding: smtp.received(Array("EHLO x\r\n".utf8)).bytes, as: UTF8.self).contains("250 AUTH "))
    let message = base64("n,a=me,\u{1}auth=Bearer \(Self.token)\u{1}\u{1}")
    let refused = smtp.received(Array("AUTH OAUTHBEARER \(message)\r\nQUIT\r\n".utf8))
    #expect(smtp.sawToken && refused.closes)
    #expect(
      String(decoding: refused.bytes, as: UTF8.self).split(separator: "\r\n").map { $0.prefix(3) } == ["535", "221"])
    var imap = try conversation(.imap)
    #expect(imap.greeting.starts(with: "* OK [CAPABILITY IMAP4rev1 ".utf8))
    let answer = imap.received(Array("a CAPABILITY\r\nb LOGIN \"me\" \"\(Self.token)\"\r\nc LOGOUT\r\n".utf8))
    let lines = String(decoding: answer.bytes, as: UTF8.self).split(separator: "\r\n")
    #expect(imap.sawToken && answer.closes && lines.contains { $0.hasPrefix("b NO ") })
  }

  @Test(arguments: [
    ("127.0.0.1:4 https://a.example", "http://127.0.0.1:4/x", "https://a.example"),
    ("127.0.0.1:4 https://a.example", "https://127.0.0.1:4", "https://a.example"),
    ("127.0.0.1:4 https://a.example", "http://127.0.0.1:44/x", "http://127.0.0.1:44/x"),
    (
      "127.0.0.1:4 https://a.example", "http://evil.example/http://127.0.0.1:4/",
      "http://evil.example/http://127.0.0.1:4/"
    ),
    ("127.0.0.1:4@evil https://a.example", "http://127.0.0.1:4@evil/", "http://127.0.0.1:4@evil/"),
    ("evil.example:4 https://a.example", "http://evil.example:4/", "http://evil.example:4/"),
    ("127.0.0.1:4", "http://127.0.0.1:4/", "http://127.0.0.1:4/"), ("", "http://127.0.0.1:4/", "http://127.0.0.1:4/"),
  ])
  func `only an address of this machine stands for a target`(value: String, asked: String, meant: String) {
    #expect(ProbeStandIn.resolved(asked, [ProbeStandIn.variable: value]) == meant)
    #expect(ProbeStandIn.resolved(asked, [:]) == asked)
  }
}
