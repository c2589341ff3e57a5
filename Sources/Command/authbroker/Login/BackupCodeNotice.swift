import BrokerProtocol

/// Tells a person who has used a backup code how many are left.
enum BackupCodeNotice {
  /// So few that new ones are advised: a telephone that is lost takes days to replace.
  private static let few = 3

  /// The message about the number of codes that are left.
  static func message(remaining count: Int, of profile: ProfileName?) -> Message {
    let next = count <= few ? NextCommand("make new ones with", "account", "backup-codes").on(profile) : nil
    return Message("that backup code is used up; \(count.counted("backup code")) left", next: next)
  }
}
