import BrokerProtocol
package import ConfigurationFile

/// The settings for the delivery of the embedded provider's messages.
package struct DeliveryConfiguration: Sendable, Equatable {
  /// A way for messages.
  package enum Channel: String, Sendable, CaseIterable {
    /// A file for each message, in the provider's own directory.
    case outbox
    /// A program that gets each message on its standard input.
    case command
    /// A mail server; for e-mail only.
    case smtp
    /// A service that takes a form over HTTP; for SMS only.
    case sms

    /// Whether messages of a kind can go this way.
    func carries(_ method: OTPChallenge.Method) -> Bool {
      switch self {
      case .outbox, .command: true
      case .smtp: method == .email
      case .sms: method == .sms
      }
    }
  }

  /// The way of e-mails.
  package var email: ChannelConfiguration
  /// The way of SMS.
  package var sms: ChannelConfiguration

  /// The defaults.
  package init() {
    email = .outbox
    sms = .outbox
  }

  /// Reads the section: one way for both, and `email` and `sms` where one of them has a way of its own.
  ///
  /// What the common way cannot carry stays in the outbox.
  package init(_ section: inout ConfigurationSection) {
    let common = ChannelConfiguration(&section)
    email = Self.own("email", .email, in: &section) ?? (common.name.carries(.email) ? common : .outbox)
    sms = Self.own("sms", .sms, in: &section) ?? (common.name.carries(.sms) ? common : .outbox)
    section.finish()
  }

  private static func own(
    _ key: String, _ method: OTPChallenge.Method, in section: inout ConfigurationSection
  ) -> ChannelConfiguration? {
    var own = section.section(key)
    let channel = ChannelConfiguration(&own, for: method)
    own.finish()
    return section.has(key) ? channel : nil
  }
}
