package import ConfigurationFile

/// How many codes and mails the embedded provider sends for one account, however many callers ask for them.
///
/// So no telephone or mailbox is flooded, no bill grows, and guesses do not get new codes without end.
package struct MessageLimits: Sendable, Equatable {
  /// Messages of any hour.
  package var perHour: Int
  /// Messages of any 24 hours.
  package var perDay: Int

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
}
