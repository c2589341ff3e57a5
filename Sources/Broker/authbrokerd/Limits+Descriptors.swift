import BrokerCore
import Configuration
import Logging

extension Limits {
  /// Descriptors that are not for connections: the database, the listener, the log, and what libraries open.
  private static let reservedDescriptors = 64

  /// With fewer, clients would wait in silence for each other.
  static let leastDescriptors = reservedDescriptors + 16

  /// The same limits with as many connections as the process has descriptors for.
  func fitting(descriptorLimit: Int) -> Limits {
    var limits = self
    limits[.connections] = max(1, min(limits[.connections], descriptorLimit - Self.reservedDescriptors))
    return limits
  }
}

extension LogLevel {
  /// The level that a configuration asks for.
  init(_ level: BrokerConfiguration.LogLevel) {
    switch level {
    case .error: self = .error
    case .warning: self = .warning
    case .info: self = .info
    case .debug: self = .debug
    }
  }
}
