import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// The answers of AWS's Security Token Service, and the XML that they are written in.
@Suite(.standardTimeLimit) struct STSAnswerTests {
  /// An answer that was read as another one.
  private struct Unexpected: Error {
    let text: String
  }

  private static let token = "made-up-token"

  private static func keys(_ session: String = "made-up-session", _ expiry: String = "2099-01-01T00:00:00Z") -> String {
    """
    <?xml version="1.0"?>
    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Audience>a</Audience><Credentials>
        <AccessKeyId>ASIAMADEUP</AccessKeyId><SecretAccessKey>made&#x2F;up&amp;&quot;</SecretAccessKey>
        <SessionToken>\(session)</SessionToken><Expiration>\(expiry)</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult>
    </AssumeRoleWithWebIdentityResponse>
    """
  }

  private static func answer(_ text: String, _ status: Int = 200) throws -> STSAnswer {
    var bytes = Array(token.utf8)
    return STSAnswer(Array(text.utf8), status: status, without: try Secret(wiping: &bytes))
  }

  @Test func `keys are printed as AWS's tools read them`() throws {
    guard case .keys(let bytes) = try Self.answer(Self.keys()) else { throw Unexpected(text: "no keys") }
    let expected =
      #"{"Version":1,"AccessKeyId":"ASIAMADEUP","SecretAccessKey":"made/up&\"","SessionToken":"made-up-session","#
      + #""Expiration":"2099-01-01T00:00:00Z"}"#
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test func `keys that have expired are none`() throws {
    let body = Array(Self.keys("a", "2026-01-01T00:00:00Z").utf8)
    let end = try #require(Timestamp("2026-01-01T00:00:00Z"))
    for (seconds, isGood) in [(-1, true), (0, false), (1, false)] {
      var bytes = Array(Self.token.utf8)
      let token = try Secret(wiping: &bytes)
      let answer = STSAnswer(body, status: 200, without: token, now: end + .seconds(seconds))
      switch answer {
      case .keys: #expect(isGood)
      case .expired: #expect(!isGood)
      case .refusal, .malformed: throw Unexpected(text: "\(answer)")
      }
    }
  }

  @Test(arguments: [
    keys(""), keys("a b"), keys("a", "tomorrow"), keys("&unknown;"), keys("&#0;"), keys("a<b/>"), keys("<!-- a -->"),
    keys("<![CDATA[a]]>"), keys() + "<more/>", keys() + "x", "<!DOCTYPE a>" + keys(), "", "<a>", "<a></b>", "a",
    keys().replacing("AccessKeyId>", with: "Id>"), keys("a</SessionToken><SessionToken>b"),
    String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
    String(repeating: "<a b='", count: 3), "<a b=c/>", "<a b='<'/>", "<a b='c'd='e'/>",
  ]) func `anything else is no answer of the service`(text: String) throws {
    guard case .malformed(200) = try Self.answer(text) else { throw Unexpected(text: "an answer: \(text)") }
  }

  @Test func `an error has the service's name and words, and never the token`() throws {
    let error = { (code: String, words: String) in
      "<ErrorResponse><Error><Type>Sender</Type><Code>\(code)</Code><Message>\(words)</Message></Error></ErrorResponse>"
    }
    let cases: [(String, String, Int, STSAnswer.Refusal, Bool, Bool)] = [
      (
        "InvalidIdentityToken", "not &lt;good&gt;", 400,
        .init(code: "InvalidIdentityToken", message: "not <good>", status: 400),
        true, false
      ),
      (
        "ExpiredTokenException", Self.token, 400, .init(code: "ExpiredTokenException", message: "", status: 400), true,
        false
      ),
      ("AccessDenied", "\n no\n", 403, .init(code: "AccessDenied", message: "no", status: 403), false, false),
      ("InvalidIdentityToken", "", 503, .init(code: "InvalidIdentityToken", message: "", status: 503), false, true),
    ]
    for (code, words, status, expected, isAboutToken, isOutage) in cases {
      guard case .refusal(let refusal) = try Self.answer(error(code, words), status) else {
        throw Unexpected(text: "no refusal: \(code)")
      }
      #expect(refusal == expected)
      #expect(refusal.isAboutToken == isAboutToken && refusal.isOutage == isOutage)
    }
    // Keys with the status of an error, and an error with that of success, are neither.
    for (text, status) in [(Self.keys(), 400), (error("AccessDenied", ""), 200)] {
      guard case .malformed(status) = try Self.answer(text, status) else {
        throw Unexpected(text: "an answer: \(text)")
      }
    }
  }
}
