package import ConfigurationFile

/// How the embedded provider's messages reach people.
package struct DeliveryConfiguration: Sendable, Equatable {
  /// A way for messages.
  package enum Channel: String, Sendable, CaseIterable {
    /// A file for each message, in the provider's own directory.
    case outbox
  }

  /// The way in use.
  package var channel: Channel

  private static let channelSetting = ChoiceSetting(
    "channel", standard: Channel.outbox, later: ["command", "smtp", "sms"])

  /// The defaults.
  package init() {
    channel = Self.channelSetting.standard
  }

  /// Reads the section, with the default of each setting that is absent.
  package init(_ section: inout ConfigurationSection) {
    channel = section.read(Self.channelSetting)
    section.finish()
  }
}
