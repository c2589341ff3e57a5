import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import TestSupport

/// Events that a vault has kept, nearly as many bytes as it keeps (``EventRetention``): what comes during a test pushes none
/// of them out.
struct EventHistory {
  /// How many there are; their sequences begin at 1.
  let count: Int
  /// How many characters the name of the account has in each.
  private let length: Int

  /// Nearly as many events as are kept.
  static let many = EventHistory(count: 9_000, length: 700)
  /// Events as long as they may be.
  static let long = EventHistory(count: 2_200, length: 3_500)

  /// How many of them are written at a time.
  private static let step = 100

  /// Makes a vault with them in a new state directory.
  func write(to state: String) throws {
    let (count, user) = (UInt64(count), String(repeating: "u", count: length))
    let now = Timestamp(milliseconds: WallClock.milliseconds)
    guard mkdir(state, 0o700) == 0 else { throw Errno(code: errno) }
    try TaskResult.waiting {
      try Sealing.initialize()
      let vault = try await Vault.open(
        path: state + "/vault.sqlite", settings: KeySourceSettings(keyFilePath: state + "/vault.key"))
      try await vault.unlock(nil)
      try await vault.reserveSequences(through: count)
      for start in stride(from: 1, through: count, by: Self.step) {
        try await vault.commit(
          (start..<(start + UInt64(Self.step))).map { number in
            let payload = EventPayload.login(LoginEvent(userID: user, method: "password"))
            return .event(BrokerEvent(sequence: number, profile: .default, time: now, payload: payload))
          })
      }
      try await vault.close()
    }
  }
}
