import JSON
import TestSupport

/// The mail server of `Tests/Servers/MailServer` and the service for SMS beside it, and what a test may ask of them.
///
/// They end with their sandbox.
struct MailBackend {
  /// A mail server's ways to TLS.
  enum Server: String, CaseIterable {
    /// From the first byte on.
    case implicitTLS = "smtpsUrl"
    /// By STARTTLS.
    case startTLS = "startTlsUrl"
  }

  /// Where the service for SMS takes forms.
  let formURL: String
  /// Who may send mails, and the password for it.
  let user: String
  let password: String
  private let caFile: String
  private let servers: [Server: String]
  private let control: ControlInterface

  /// Starts both.
  init(_ sandbox: Sandbox) throws {
    let places = try sandbox.startServer("MailServer/mail-server").places
    formURL = try places.required("url").string()
    user = try places.required("user").string()
    password = try places.required("password").string()
    caFile = try places.required("caFile").string()
    servers = try Dictionary(
      uniqueKeysWithValues: Server.allCases.map { ($0, try places.required($0.rawValue).string()) })
    control = try ControlInterface(try places.required("controlUrl").string())
  }

  /// Where a mail server listens.
  func url(_ server: Server) -> String { servers[server] ?? "" }

  /// Writes the password to a file; a value of `local.delivery` that sends mails with it.
  func delivery(_ server: Server, _ sandbox: Sandbox) throws -> String {
    let file = sandbox.root + "/mail-password"
    try Directory.write(password + "\n", to: file)
    return """
      { channel: "smtp", url: "\(url(server))", from: "no-reply@example.com", user: "\(user)",
        password: { file: "\(file)" }, tls: { caFile: "\(caFile)" } }
      """
  }

  /// Lets the mail servers refuse every recipient with a reply.
  func refuse(_ reply: String) throws { _ = try control.ask("/refuse", #"{"reply":"\#(reply)"}"#) }

  /// Forgets every mail and form, and refuses nothing any more.
  func reset() throws { _ = try control.ask("/reset", "{}") }

  /// The newest mail with a subject, as soon as there is one.
  func mail(_ subject: String) throws -> JSONNode {
    try newest("mails") { try $0.required("data").string().contains("\r\nSubject: \(subject)\r\n") }
  }

  /// The newest form, as soon as there is one.
  func form() throws -> JSONNode { try newest("forms") { _ in true } }

  /// The code in the newest mail that has one.
  func code() throws -> String {
    Self.code(in: try mail("Your login code").required("data").string())
  }

  /// Has the codes of an account's logins go by e-mail, which the first one proves.
  func enrol(_ client: SocketWire) throws {
    let update = try client.call("updateProfile", #"{"changes":{"twoFactor":"email"}}"#)
    let flow = try update.required("enrolment").required("otpFlowId").string()
    let mail = try mail("Your confirmation code").required("data").string()
    let code = Self.word(after: "Your confirmation code is ", in: mail)
    _ = try client.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
  }

  /// The code in a message; empty where there is none.
  static func code(in text: String) -> String { word(after: "Your login code is ", in: text) }

  /// The token in the newest mail for a new password.
  func token() throws -> String {
    Self.word(after: "enter the token: ", in: try mail("Reset your password").required("data").string())
  }

  /// The letters, digits, `-` and `_` that follow a text.
  private static func word(after lead: String, in text: String) -> String {
    guard let place = text.firstRange(of: lead) else { return "" }
    return String(text[place.upperBound...].prefix { $0.isLetter || $0.isNumber || "-_".contains($0) })
  }

  private func newest(_ list: String, _ isWanted: (JSONNode) throws -> Bool) throws -> JSONNode {
    var found: JSONNode?
    _ = try Patience.wait {
      found = try control.ask("/" + list).required(list).elements().last(where: isWanted)
      return found != nil
    }
    guard let found else { throw TestFailure("none of the \(list) came") }
    return found
  }
}
