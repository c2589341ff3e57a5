import BrokerCore
import BrokerProtocol
import LinuxSystem
import Synchronization

/// A socket on which a browser is awaited.
///
/// A browser may take the name `localhost` for either loopback address. So the other one's port is held as well: a
/// program of another user that listened there would be sent what the provider answers.
final class RedirectSocket: Sendable {
  /// The socket.
  let listening: LoopbackSocket.Listening
  /// The port.
  var port: Int { listening.port }

  /// The same port of the other address, where the name may mean both.
  private let other: Mutex<FileDescriptor?>

  /// How many free ports are tried for one that both addresses have free.
  private static let attempts = 16

  /// Begins to listen.
  ///
  /// - Throws: `.misconfigured(.redirectPort)` where the port is in use: another one in the configuration may be free;
  ///   `.transient(.overloaded)` where there are no descriptors.
  static func open(_ host: LoopbackRedirect.Host, port: Int) throws(ProviderFailure) -> RedirectSocket {
    var attempt = 1
    while true {
      do throws(Errno) { return try RedirectSocket(on: host, port) } catch {
        guard error == .addressInUse, port == 0, attempt < attempts else { throw failure(error) }
        attempt += 1
      }
    }
  }

  private init(on host: LoopbackRedirect.Host, _ port: Int) throws(Errno) {
    listening = try LoopbackSocket.listen(on: host == .ipv6 ? .ipv6 : .ipv4, port: UInt16(clamping: port))
    if host == .name {
      other = Mutex(try LoopbackSocket.hold(on: .ipv6, port: UInt16(clamping: listening.port)))
    } else {
      other = Mutex(nil)
    }
  }

  private static func failure(_ error: Errno) -> ProviderFailure {
    error == .tooManyDescriptors ? .transient(.overloaded) : .misconfigured(.redirectPort)
  }

  /// Refuses connections from now on, and lets another login have the port.
  func stop() {
    listening.stop()
    other.withLock { $0 = nil }
  }
}
