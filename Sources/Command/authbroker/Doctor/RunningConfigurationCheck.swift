import BrokerProtocol
import LinuxSystem
import StateDirectory

/// Whether the configuration file was changed after the running broker had read it.
///
/// A broker reads it at its start, and when it is told to reload it.
enum RunningConfigurationCheck {
  /// Whether the file is newer than the broker: then it matters whether it has been read again.
  static func isSuspect(_ owner: OwnerRecord?, _ status: GetStatus.Result) -> Bool {
    changed(owner).map { $0 > status.configurationReadAt ?? status.startedAt } ?? false
  }

  /// The finding; nil where the broker has read the present file.
  ///
  /// A file that is not valid (`isValid`) is not worth being read again.
  static func finding(
    _ owner: OwnerRecord?, _ status: GetStatus.Result, _ events: [BrokerEvent], isValid: Bool = true
  ) -> DoctorFinding? {
    let reloads = events.filter { $0.payload.name == .configReloaded }.map { $0.time }
    let readAt = reloads.reduce(status.configurationReadAt ?? status.startedAt, max)
    guard let file = owner?.configuration, let changed = changed(owner), changed > readAt else { return nil }
    let next = isValid ? NextCommand("have it read again with", "reload") : nil
    return DoctorFinding("owner.configurationAge", "age", .warning, next: next, path: file, at: changed) {
      "\(PlainText.line(file.utf8)) was changed at \($0), after the running broker had read it"
    }
  }

  /// When the file was changed; nil where there is none.
  private static func changed(_ owner: OwnerRecord?) -> Timestamp? {
    guard let file = owner?.configuration else { return nil }
    return (try? FileStatus.following(file)).map { Timestamp(milliseconds: $0.modifiedMilliseconds) }
  }
}
