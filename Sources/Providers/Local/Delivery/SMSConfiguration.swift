import ConfigurationFile
package import HTTP
import ProviderKit

/// A service that sends the embedded provider's messages as SMS.
package struct SMSConfiguration: Sendable, Equatable {
  /// The keys of its section.
  static let keys: Set<String> = ["url", "from", "user", "password", "fields", "tls"]

  /// The names of the form's fields.
  package struct Fields: Sendable, Equatable {
    /// The recipient's number.
    package var to = "To"
    /// The sender.
    package var from = "From"
    /// The text.
    package var body = "Body"

    /// Twilio's names.
    init() {}

    /// Reads the section, with Twilio's name for each field that is absent.
    init(_ section: inout ConfigurationSection) {
      to = section.word("to") ?? to
      from = section.word("from") ?? from
      body = section.word("body") ?? body
      section.finish()
    }
  }

  /// The address of the service.
  package let url: HTTPURL
  /// The number or name that messages come from; nil: the service has one.
  package let sender: String?
  /// The account at the service; nil for a service without accounts.
  package let account: DeliveryAccount?
  /// The names of the fields.
  package let fields: Fields
  /// The accepted certificates; nil for the network's settings.
  package let tls: TLSPolicy?

  init(url: HTTPURL, sender: String?, account: DeliveryAccount?, fields: Fields, tls: TLSPolicy?) {
    self.url = url
    self.sender = sender
    self.account = account
    self.fields = fields
    self.tls = tls
  }

  /// Reads the section; nil where something is missing or faulty.
  init?(_ section: inout ConfigurationSection) {
    section.require("url", #"write url: "https://sms.example.com/messages""#)
    let url = section.serverURL("url")
    sender = section.word("from")
    account = DeliveryAccount.read(&section)
    if let account, account.user.contains(":") { section.report("user", "must have no colon (RFC 7617)") }
    var names = section.section("fields")
    fields = Fields(&names)
    var policy = section.section("tls")
    let read = TLSPolicy(&policy)
    tls = section.has("tls") ? read : nil
    guard let url else { return nil }
    self.url = url
  }
}
