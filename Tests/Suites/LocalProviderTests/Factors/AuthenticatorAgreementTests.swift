import BrokerProtocol
import Glibc
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// The codes of another implementation, `oathtool` of the OATH Toolkit.
@Suite(.standardTimeLimit) struct AuthenticatorAgreementTests {
  private static let oathtool = "/usr/bin/oathtool"

  /// The beginnings of four spans of 250 steps: the first, today's, one beyond 32 bits of seconds, and a far one.
  private static let beginnings: [(digits: Int, date: String)] = [
    (6, "1970-01-01T00:00:00Z"), (6, "2026-11-23T03:59:31Z"), (7, "2038-01-19T03:14:00Z"), (8, "2106-02-07T06:28:00Z"),
  ]

  @Test(.enabled(if: access(oathtool, X_OK) == 0, "oathtool is not installed"), arguments: beginnings)
  func `another program shows the same codes over a thousand instants`(_ digits: Int, _ date: String) throws {
    let totp = TOTP(secret: try TOTP.randomSecret(), digits: digits)
    let key = try #require(try Base32.encode(totp.secret).revealedString())
    let now = try #require(Timestamp(date))
    let shown = try output(of: [
      Self.oathtool, "--totp=sha1", "--base32", "--digits=\(digits)", "--now=\(date)", "--window=249", key,
    ])
    let first = TOTP.step(at: now)
    let codes = try (0..<250).map { try totp.code(atStep: first + $0).revealedString() ?? "" }
    #expect(shown.split(separator: "\n").map(String.init) == codes)
  }
}
