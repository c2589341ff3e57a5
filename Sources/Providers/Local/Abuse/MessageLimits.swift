package import ConfigurationFile

/// How many codes and mails the embedded provider sends, however many callers ask for them: for one account, to one
/// address that was not verified, and to all such addresses together.
///
/// So no telephone or mailbox is flooded, no bill grows, and guesses do not get new codes without end. Verified addresses
/// count for their accounts alone: to register with the address of another person keeps no code from that person.
package struct MessageLimits: Sendable, Equatable {
  /// Messages of any hour.
  package var perHour: Int
  /// Messages of any 24 hours.
  package var perDay: Int

  /// A group of messages that are counted together.
  enum Share: String {
    /// Tokens for forgotten passwords: anyone who knows an address can ask for them, so they take nothing from the rest.
    case reset
    /// Notices: they are sent however many codes were.
    case notice
    /// Codes, and tokens that verify addresses.
    case other
  }

  /// How many messages are sent in any period of a length.
  struct Limit: Equatable {
    /// The messages.
    var count: Int
    /// The length.
    var period: Duration
  }

  /// One token for a forgotten password for so many other messages: it is needed far less often.
  private static let resetDivisor = 3

  /// The factor for unverified addresses together, over that of one address: more than register in an hour.
  static let overallFactor = 30

  /// The longest period that is looked back on.
  static let day = Duration.seconds(86_400)
  private static let hour = Duration.seconds(3600)

  /// Two logins whose codes were all sent again.
  private static let hourSetting = WholeNumberSetting("maxMessagesPerHour", 1...1000, standard: 10)
  /// A login every hour of the day, and some that failed.
  private static let daySetting = WholeNumberSetting("maxMessagesPerDay", 1...10_000, standard: 30)

  /// The defaults.
  package init() {
    perHour = Self.hourSetting.standard
    perDay = Self.daySetting.standard
  }

  /// Reads the two keys of the section, with the default of each that is absent.
  package init(_ section: inout ConfigurationSection) {
    perHour = section.read(Self.hourSetting)
    perDay = section.read(Self.daySetting)
  }

  /// How many messages of a share are sent for one account, or to one address.
  ///
  /// Tokens for forgotten passwords have no limit of a day: a stranger who asks for them would keep the next one from
  /// the account's owner for longer than an hour.
  func limits(of share: Share) -> [Limit] {
    switch share {
    case .reset: [Limit(count: max(1, perHour / Self.resetDivisor), period: Self.hour)]
    case .notice, .other: [Limit(count: perHour, period: Self.hour), Limit(count: perDay, period: Self.day)]
    }
  }
}
