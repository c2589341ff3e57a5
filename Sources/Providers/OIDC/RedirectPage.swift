import BrokerProtocol
import HTTPMessage
import Sealing
import TextCoding

/// A page that the browser shows at the loopback address.
///
/// Each page is complete in itself: no script, no image, nothing from elsewhere; and nothing of the request, the
/// provider or the profile is in it.
enum RedirectPage: Sendable, Equatable {
  /// The provider has issued its tokens; the program itself reports the outcome.
  case success
  /// The login has failed.
  case failure(ErrorKind)
  /// The answer is to another login, or to none.
  case notThisLogin
  /// There is nothing at this path.
  case notFound
  /// There is nothing to be sent here.
  case wrongMethod
  /// The request was meant for another host.
  case misdirected
  /// It is no request that is understood here; the status (RFC 9110, section 15.5).
  case malformed(status: Int)

  /// The whole response; the connection ends after it.
  var response: [UInt8] {
    let fields = [
      ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", Self.contentPolicy),
      ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return ResponseMessage.bytes(status, fields + (self == .wrongMethod ? [("Allow", "GET")] : []), body: body)
  }

  private var status: String {
    switch self {
    case .success: "200 OK"
    // The browser has done its part; a status of an error would only bring up a page of its own.
    case .failure: "200 OK"
    case .notThisLogin: "400 Bad Request"
    case .notFound: "404 Not Found"
    case .wrongMethod: "405 Method Not Allowed"
    case .misdirected: "421 Misdirected Request"
    case .malformed(let status): "\(status) Bad Request"
    }
  }

  private var title: String {
    switch self {
    case .success: "You're logged in"
    case .failure: "Login failed"
    case .notThisLogin: "This login link is no longer valid"
    case .notFound, .wrongMethod, .misdirected, .malformed: "Page not found"
    }
  }

  private var sentence: String {
    switch self {
    case .success: "You can close this window and return to your terminal or app."
    case .failure(.consentDenied):
      "The login was declined or cancelled. You can close this window; to try again, log in again from your terminal or app."
    case .failure: "You can close this window. Your terminal or app says what went wrong, and what to do."
    case .notThisLogin:
      "The login may be finished, replaced or cancelled. Close this window, and log in again from your terminal or app."
    case .notFound, .wrongMethod, .misdirected, .malformed: "This address only receives the result of a login."
    }
  }

  private var body: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title)</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <main>
    <h1>\(title)</h1>
    <p>\(sentence)</p>
    </main>
    </body>
    </html>

    """
  }

  private static let style =
    "html{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;"
    + "font:1.1rem/1.5 system-ui,sans-serif}main{max-width:30rem;padding:2rem}h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:0}"

  /// Nothing is loaded, and only this very style is applied (Content Security Policy Level 3, section 2.3.1).
  private static let contentPolicy: String = {
    let digits = Base64.encode(SHA256.digest(of: Array(style.utf8).span).span, as: .padded)
    let hash = String(decoding: digits, as: UTF8.self)
    return "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }()
}
