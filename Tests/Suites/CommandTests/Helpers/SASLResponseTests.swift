import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// The first messages of mail clients, and the addresses of mail servers.
@Suite(.standardTimeLimit) struct SASLResponseTests {
  private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  @Test func `XOAUTH2 has the user and the token`() throws {
    let message = SASLResponse.xoauth2("ann@example.com", try Secret(utf8: "made-up"))
    #expect(text(message) == "user=ann@example.com\u{1}auth=Bearer made-up\u{1}\u{1}")
  }

  // The example of RFC 7628, section 4.1.
  @Test func `OAUTHBEARER is that of RFC 7628`() throws {
    let token = try Secret(utf8: "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==")
    let message = SASLResponse.oauthbearer("user@example.com", server: ("server.example.com", 143), token)
    #expect(
      text(message)
        == "n,a=user@example.com,\u{1}host=server.example.com\u{1}port=143\u{1}auth=Bearer "
        + "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\u{1}\u{1}")
  }

  @Test func `a name is escaped as RFC 5801 says`() throws {
    let message = SASLResponse.oauthbearer("a,b=c", server: nil, try Secret(utf8: "x"))
    #expect(text(message) == "n,a=a=2Cb=3Dc,\u{1}auth=Bearer x\u{1}\u{1}")
  }

  @Test(arguments: ["", "a\u{1}auth=Bearer y", "a\nb", "a\u{0}", "a\u{7F}"])
  func `a name that would be read as another part is refused`(name: String) throws {
    let token = try Secret(utf8: "x")
    #expect(SASLResponse.xoauth2(name, token) == nil)
    #expect(SASLResponse.oauthbearer(name, server: nil, token) == nil)
  }

  @Test(arguments: [
    ("imaps://m.example", "m.example", 993), ("IMAP://m.example/INBOX", "m.example", 143),
    ("smtps://u@m.example:2465/", "m.example", 2465), ("smtp://[2001:db8::1]:587", "2001:db8::1", 587),
    ("smtp://[::1]", "::1", 587), ("imaps://m.example?x#y", "m.example", 993),
  ]) func `an address of a mail server has a host and a port`(text: String, host: String, port: Int) throws {
    let address = try #require(MailServerAddress(text))
    #expect(address.host == host && address.port == port)
  }

  @Test(arguments: [
    "", "m.example", "https://m.example", "imaps://", "imaps://:993", "imaps://m.example:", "imaps://m.example:0",
    "imaps://m.example:65536", "imaps://m.example:99x", "imaps://m .example", "imaps:/m.example",
    "imaps://m.example:-1", "imaps://m\u{1}.example", "imaps://[]:993",
  ]) func `what is no address of a mail server is refused`(text: String) {
    #expect(MailServerAddress(text) == nil)
  }
}
