#if !hasFeature(Embedded)
import LinuxSystem

/// Whether a call that has failed is made once more.
///
/// A broker that is about to end is asked again until there is the next one; a lost connection is followed by one more
/// try.
struct Repetition {
  /// How long a broker that ends is waited for: it waits 25 s for requests that spend a token, and then saves.
  private static let longestEnd = Duration.seconds(30)
  private static let longestPause = Duration.seconds(1)

  private let method: String
  private let longestEnd: Duration
  private var wasLost = false
  private var end: Duration?
  private var pause = Duration.milliseconds(100)

  /// The tries of a call of a method.
  init(of method: String, within longestEnd: Duration = Self.longestEnd) {
    self.method = method
    self.longestEnd = longestEnd
  }

  /// Tells whether another try follows, and waits before it.
  mutating func follows(_ failure: CallFailure) async -> Bool {
    guard failure.isRepeated(method) else { return false }
    guard failure.isRefusalOfEndingBroker else {
      defer { wasLost = true }
      return !wasLost
    }
    let end = self.end ?? BootClock.now + longestEnd
    self.end = end
    guard BootClock.now + pause < end else { return false }
    // A task that is cancelled meanwhile learns it from the next try.
    try? await Task.sleep(for: pause)
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
#endif
