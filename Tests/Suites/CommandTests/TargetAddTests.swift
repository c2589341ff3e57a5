import TestSupport
import Testing

@testable import authbroker

/// The address of a target as it is written into the configuration.
@Suite(.standardTimeLimit) struct TargetAddTests {
  @Test(arguments: [
    ("https://a.example", "https://a.example"), ("https://a.example/", "https://a.example"),
    ("HTTPS://A.Example:443/Path/", "https://a.example/Path"), ("https://a.example:8443", "https://a.example:8443"),
    ("http://LOCALHOST:80/x", "http://localhost/x"), ("imaps://Mail.example:993", "imaps://mail.example"),
    ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"), ("smtp://mail.example:465", "smtp://mail.example:465"),
    ("a.example", "a.example"), ("https://u@A.example", "https://u@A.example"),
    ("https://127.1:443", "https://127.1:443"),
    ("https://a.example?B", "https://a.example?B"), ("ftp://A.example:21", "ftp://a.example:21"), ("", ""),
  ])
  func `has one spelling`(_ url: String, _ normal: String) {
    #expect(TargetAddCommand.normalForm(of: url) == normal)
  }
}
