package import BrokerProtocol
package import LinuxSystem

extension WallClock {
  /// The present moment as the wire and the log write it.
  package static var timestamp: Timestamp {
    Timestamp(milliseconds: WallClock.milliseconds)
  }
}
