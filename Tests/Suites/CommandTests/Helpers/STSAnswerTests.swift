import BrokerProtocol
import Glibc
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// The answers of AWS's Security Token Service, and the XML that they are written in.
@Suite(.standardTimeLimit) struct STSAnswerTests {
  private static let token = "made-up-token"

  private static func keys(_ session: String = "made-up-session", _ expiry: String = "2099-01-01T00:00:00Z") -> String {
    """
    <?xml version="1.0"?>
    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Audience>a</Audience><Credentials>
        <AccessKeyId>ASIAMADEUP</AccessKeyId><SecretAccessKey>made/up&amp;&quot;</SecretAccessKey>
        <SessionToken>\(session)</SessionToken><Expiration>\(expiry)</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult>
    </AssumeRoleWithWebIdentityResponse>
    """
  }

  private let scratch = Scratch()

  private func outcome(
    _ text: String, _ status: Int = 200, now: Timestamp = LocalTime.now
  ) throws -> AWSExchange.Outcome {
    try scratch.write("", to: "curl")
    #expect(chmod(scratch.file("curl"), 0o700) == 0)
    let environment = ["PATH": scratch.path, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/dev"]
    let role = try AWSRole(Context(arguments: Arguments(), environment: EnvironmentVariables(environment)))
    let exchange = try AWSExchange(of: role, environment)
    return exchange.answer(Array(text.utf8)[...], status, try Secret(utf8: Self.token), now: now)
  }

  private static func sentence(_ outcome: AWSExchange.Outcome) -> String? {
    guard case .failure(let failure) = outcome.result else { return nil }
    return failure.message.sentence
  }

  @Test func `keys are printed as AWS's tools read them`() throws {
    let expected =
      #"{"Version":1,"AccessKeyId":"ASIAMADEUP","SecretAccessKey":"made/up&\"","SessionToken":"made-up-session","#
      + #""Expiration":"2099-01-01T00:00:00Z"}"#
    #expect(String(decoding: try outcome(Self.keys()).result.get(), as: UTF8.self) == expected)
  }

  @Test func `keys that have expired are none`() throws {
    let end = try #require(Timestamp("2026-01-01T00:00:00Z"))
    for (seconds, isGood) in [(-1, true), (0, false), (1, false)] {
      let outcome = try outcome(Self.keys("a", "2026-01-01T00:00:00Z"), now: end + .seconds(seconds))
      #expect(Self.sentence(outcome)?.contains("have expired") == (isGood ? nil : true))
    }
  }

  @Test(arguments: [
    keys(""), keys("a b"), keys("a", "tomorrow"), keys("&unknown;"), keys("&#0;"), keys("a<b/>"), keys("<!-- a -->"),
    keys("<![CDATA[a]]>"), "<!DOCTYPE a>" + keys(), "", "<a>", "<a></b>", "a",
    keys().replacing("AccessKeyId>", with: "Id>"), keys("a</SessionToken><SessionToken>b"), "<AccessKeyId>",
  ]) func `anything else is no answer of the service`(text: String) throws {
    let outcome = try outcome(text)
    #expect(Self.sentence(outcome)?.contains("no answer of AWS's Security Token Service (status 200)") == true)
    #expect(!outcome.passes && !outcome.isAboutToken)
  }

  @Test func `an error has the service's name and words, and never the token`() throws {
    let error = { (code: String, words: String) in
      "<ErrorResponse><Error><Type>Sender</Type><Code>\(code)</Code><Message>\(words)</Message></Error></ErrorResponse>"
    }
    let cases: [(String, String, Int, String, Bool, Bool)] = [
      ("InvalidIdentityToken", "not &lt;good&gt;", 400, "(InvalidIdentityToken): not <good>; check", true, false),
      ("ExpiredTokenException", Self.token, 400, "(ExpiredTokenException); check", true, false),
      ("AccessDenied", "\n no\n", 403, "(AccessDenied): no; check", false, false),
      ("InvalidIdentityToken", "", 503, "(InvalidIdentityToken); try again later", false, true),
      ("Throttling", "", 400, "(Throttling); try again later", false, true),
    ]
    for (code, words, status, expected, isAboutToken, passes) in cases {
      let outcome = try outcome(error(code, words), status)
      #expect(Self.sentence(outcome)?.contains(expected) == true, "\(Self.sentence(outcome) ?? "")")
      #expect(outcome.isAboutToken == isAboutToken && outcome.passes == passes)
    }
    // Keys with the status of an error, and an error with that of success, are neither.
    for (text, status) in [(Self.keys(), 400), (error("AccessDenied", ""), 200)] {
      #expect(Self.sentence(try outcome(text, status))?.contains("no answer of AWS's") == true)
    }
  }
}
