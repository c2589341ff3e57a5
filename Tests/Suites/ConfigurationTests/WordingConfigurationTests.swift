import Configuration
import ConfigurationFile
import LocalProvider
import TestSupport
import Testing

/// `local.wording` and what codes by SMS are bound to: what is taken, and what is refused and where.
@Suite(.standardTimeLimit) struct WordingConfigurationTests {
  private func lines(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try BrokerConfiguration.parse(Array("{local:\(text)}".utf8), file: "c", environment: [:])
      return []
    } catch { return error.mistakes.map(\.line) }
  }

  @Test(arguments: [
    "{wording:{loginCode:{subject:'Ihr Code',text:'Ihr Code: {code}. Er gilt {minutes} Minuten.'}}}",
    "{wording:{passwordReset:{text:'{token}'},passwordChanged:{text:'Ihr Passwort ist neu.'}}}",
    "{otp:{domain:'login.example.com',otherChannel:false}}",
  ])
  func `the owner's words are taken`(_ text: String) { #expect(lines(text) == []) }

  @Test(arguments: [
    ("{wording:{loginCode:{text:'no code'}}}", "wording.loginCode.text: must have {code} once"),
    ("{wording:{loginCode:{text:'{code} {code}'}}}", "wording.loginCode.text: must have {code} once"),
    (
      "{wording:{loginCode:{text:'{code} {name}'}}}",
      "wording.loginCode.text: may have {code}, {lifetime} and {minutes} alone in braces"
    ),
    (
      "{wording:{passwordReset:{text:'{token'}}}",
      "wording.passwordReset.text: may have {token}, {lifetime} and {minutes} alone in braces"
    ),
    ("{wording:{passwordChanged:{text:'{code}'}}}", "wording.passwordChanged.text: may have nothing in braces"),
    (
      "{wording:{passwordChanged:{text:'a\\u001b[31m'}}}",
      "wording.passwordChanged.text: must have 1 to 1600 bytes, and no control characters but line ends"
    ),
    (
      "{wording:{passwordChanged:{subject:'a\\nBcc: x'}}}",
      "wording.passwordChanged.subject: must be one line of at most 138 bytes, without control characters and braces"
    ),
    ("{otp:{domain:'https://a.b'}}", "otp.domain: must be the name of a host, not \"https://a.b\""),
  ])
  func `words that would lose the code or break a message are refused`(_ text: String, _ mistake: String) {
    #expect(lines(text).first?.contains(": local." + mistake) == true, "\(lines(text))")
  }
}
