import BrokerProtocol
import ConfigurationFile

/// The channel of messages, with its settings.
package enum ChannelConfiguration: Sendable, Equatable {
  /// A file for each message.
  case outbox
  /// A program and its arguments.
  case command([String])
  /// A mail server.
  case smtp(SMTPConfiguration)
  /// A service for SMS.
  case sms(SMSConfiguration)

  private static let channelSetting = ChoiceSetting("channel", standard: DeliveryConfiguration.Channel.outbox)

  /// The way's name.
  package var name: DeliveryConfiguration.Channel {
    switch self {
    case .outbox: .outbox
    case .command: .command
    case .smtp: .smtp
    case .sms: .sms
    }
  }

  /// Reads `channel` and its settings; the outbox where something is missing or faulty.
  ///
  /// - Parameters:
  ///   - section: finished by the caller.
  ///   - method: what it must be able to send; nil: something.
  init(_ section: inout ConfigurationSection, for method: OTPChallenge.Method? = nil) {
    let channel = section.read(Self.channelSetting)
    Self.noteKeys(channel, in: &section)
    if let method, !channel.carries(method) {
      let word = method == .sms ? "SMS" : "e-mail"
      section.report("channel", "the channel \"\(channel.rawValue)\" cannot send \(word)")
    }
    switch channel {
    case .outbox: self = .outbox
    case .command:
      section.require("command", #"write command: ["PROGRAM"]"#)
      self = section.program("command").map { .command($0) } ?? .outbox
    case .smtp: self = SMTPConfiguration(&section).map { .smtp($0) } ?? .outbox
    case .sms: self = SMSConfiguration(&section).map { .sms($0) } ?? .outbox
    }
  }

  /// Makes every channel's keys known, and notes those that have no effect with this one.
  private static func noteKeys(_ channel: DeliveryConfiguration.Channel, in section: inout ConfigurationSection) {
    let keys = keys(of: channel)
    let all = DeliveryConfiguration.Channel.allCases.reduce(into: Set()) { $0.formUnion(Self.keys(of: $1)) }
    for key in all.sorted() {
      section.note(key)
      guard !keys.contains(key), section.has(key), !section.isFaulty("channel") else { continue }
      section.report(key, "has no effect with channel \"\(channel.rawValue)\"", "set channel, or remove it")
    }
  }

  private static func keys(of channel: DeliveryConfiguration.Channel) -> Set<String> {
    switch channel {
    case .outbox: []
    case .command: ["command"]
    case .smtp: SMTPConfiguration.keys
    case .sms: SMSConfiguration.keys
    }
  }
}
