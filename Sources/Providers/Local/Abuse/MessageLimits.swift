package import ConfigurationFile

/// How many codes and mails the embedded provider sends for one account, however many callers ask for them.
///
/// So no telephone or mailbox is flooded, no bill grows, and guesses do not get new codes without end.
package struct MessageLimits: Sendable, Equatable {
  /// Messages of any hour.
  package var perHour: Int
  /// Messages of any 24 hours.
  package var perDay: Int

  /// What is counted together.
  enum Share: String {
    /// Tokens for forgotten passwords: anyone who knows an address can ask for them, so they take nothing from the rest.
    case reset
    /// All other messages that count.
    case other
  }

  /// One token for a forgotten password for so many other messages: it is needed far less often.
  private static let resetDivisor = 3

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

  /// How many messages of a share are sent: all that are configured, or a third as many tokens for forgotten passwords.
  func limits(of share: Share) -> (perHour: Int, perDay: Int) {
    switch share {
    case .reset: (max(1, perHour / Self.resetDivisor), max(1, perDay / Self.resetDivisor))
    case .other: (perHour, perDay)
    }
  }
}
