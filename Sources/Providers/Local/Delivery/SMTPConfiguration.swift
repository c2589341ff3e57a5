import ConfigurationFile
package import HTTP
import ProviderKit

/// A mail server that takes the embedded provider's messages.
package struct SMTPConfiguration: Sendable, Equatable {
  /// The keys of its section.
  static let keys: Set<String> = ["url", "from", "user", "password", "tls"]

  /// The server.
  package let server: MailServerURL
  /// The sender of every mail.
  package let sender: MailAddress
  /// The account at the server; nil for a server without accounts.
  package let account: DeliveryAccount?
  /// The accepted certificates; nil for the network's settings, and on this machine no TLS at all.
  package let tls: TLSPolicy?

  init(server: MailServerURL, sender: MailAddress, account: DeliveryAccount?, tls: TLSPolicy?) {
    self.server = server
    self.sender = sender
    self.account = account
    self.tls = tls
  }

  /// Reads the section; nil where something is missing or faulty.
  init?(_ section: inout ConfigurationSection) {
    section.require("url", #"write url: "smtps://mail.example.com""#)
    section.require("from", #"write from: "no-reply@example.com""#)
    let server = Self.server(&section)
    let sender = Self.sender(&section)
    account = DeliveryAccount.read(&section)
    var policy = section.section("tls")
    let read = TLSPolicy(&policy)
    tls = section.has("tls") ? read : nil
    guard let server, let sender else { return nil }
    self.server = server
    self.sender = sender
  }

  private static func server(_ section: inout ConfigurationSection) -> MailServerURL? {
    guard let text = section.string("url") else { return nil }
    if let server = try? MailServerURL(text) { return server }
    section.report("url", "must be smtps://HOST or smtp://HOST, maybe with :PORT, and nothing else")
    return nil
  }

  private static func sender(_ section: inout ConfigurationSection) -> MailAddress? {
    guard let text = section.string("from") else { return nil }
    if let sender = MailAddress(text) { return sender }
    section.report("from", #"must be an e-mail address such as "no-reply@example.com""#)
    return nil
  }
}
