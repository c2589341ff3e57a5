import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What an authenticator app reads from a QR code.
@Suite(.standardTimeLimit) struct OTPAuthURITests {
  private static func uri(_ issuer: String, _ account: String, digits: Int = 6) throws -> String? {
    let totp = TOTP(secret: try Secret(utf8: "12345678901234567890"), digits: digits)
    return try OTPAuthURI.make(totp, issuer: issuer, account: account).revealedString()
  }

  private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  @Test func `it names issuer, account, secret and how the codes are made`() throws {
    let expected =
      "otpauth://totp/AuthBroker:ada%40example.com?secret=\(Self.key)&issuer=AuthBroker&algorithm=SHA1&digits=6&period=30"
    #expect(try Self.uri("AuthBroker", "ada@example.com") == expected)
    #expect(try Self.uri("AuthBroker", "a", digits: 8)?.contains("&digits=8&") == true)
  }

  @Test func `no character of a name changes the address`() throws {
    let uri = try #require(try Self.uri("Ada & Co: 100%", "é?secret=x#y/\u{1}"))
    let label = "Ada%20%26%20Co%20100%25:%C3%A9%3Fsecret%3Dx%23y%2F%01"
    #expect(uri.hasPrefix("otpauth://totp/\(label)?secret=\(Self.key)&issuer=Ada%20%26%20Co%20100%25&"))
    #expect(uri.utf8.allSatisfy { (0x21...0x7E).contains($0) })
  }
}
