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

extension Daemon {
  /// The descriptors of a limited socket beside its connections: that which listens, and the one that is kept in reserve.
  private static let descriptorsOfSocket = 2

  /// The limits of a configuration, with as many connections as its sockets leave descriptors for.
  func limits(of configuration: BrokerConfiguration) -> Limits {
    let sockets = configuration.sockets.count * Self.descriptorsOfSocket
    return configuration.limits.fitting(descriptorLimit: descriptorLimit - sockets)
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
