import BrokerProtocol
import HTTP
import ProviderKit

/// Judges the answer to a request for the user without a token: it should be 401.
struct UserPathReview {
  private static let check = "path.currentUser"
  private let response: HTTPResponse
  private let form: BodyForm
  private let path: String

  /// An answer, and the path that was asked.
  init(_ response: HTTPResponse, path: String) {
    self.response = response
    self.path = path
    form = BodyForm(response)
  }

  /// The finding.
  var finding: ProviderFinding {
    let status = response.status
    switch (status, form) {
    case (401, .json), (401, .empty):
      return ProviderFinding(Self.check, .ok, "GET \(path) without a token is rejected with 401")
    case (200..<300, .html), (401, .html):
      return finding(
        .failure, "GET \(path) answers \(status) with a web page.",
        "Check baseUrl (often /api is missing), and whether the network requires a login.", .invalidResponse)
    case (403, _):
      return finding(
        .warning, "GET \(path) without a token is rejected with 403, not with 401.",
        "Answer 401 (RFC 9110, section 15.5.2): at 403 a token is not refreshed.")
    case (401, .other):
      return finding(.warning, "GET \(path) answers 401, but not with JSON.", "Return errors as JSON: they say more.")
    case (200..<300, _):
      return finding(
        .warning, "GET \(path) answers \(status) without a token.",
        "Check the mapping of currentUser: a rejected token would not be noticed.")
    case (300..<400, _):
      let target = response.field("location").map { " to " + SanitizedText($0).text } ?? ""
      return finding(
        .failure, "GET \(path) redirects\(target); redirects are not followed.",
        "Check baseUrl, including scheme and slashes; an API answers 401.", .invalidResponse)
    case (404, _), (405, _), (410, _):
      return finding(
        .failure, "GET \(path) is missing (status \(status)).",
        "Check baseUrl and the mapping of currentUser; remove it if there is none.")
    default:
      return finding(.warning, "GET \(path) answers \(status).", "Without a token it should answer 401.")
    }
  }

  private func finding(
    _ level: ProviderFinding.Level, _ message: String, _ advice: String, _ kind: ErrorKind? = nil
  ) -> ProviderFinding {
    ProviderFinding(Self.check, level, message, advice: advice, errorKind: kind)
  }
}
