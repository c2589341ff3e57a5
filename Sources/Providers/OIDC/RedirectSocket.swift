import BrokerCore
import BrokerProtocol
import LinuxSystem

/// The sockets on which a browser is awaited.
///
/// A browser may take the name `localhost` for either loopback address, so both are listened on, on the same port: a
/// program of another user that listened on the other one would be sent what the provider answers.
final class RedirectSocket: Sendable {
  /// The socket on the address that the redirect names, or on 127.0.0.1 where it names `localhost`.
  private let first: LoopbackSocket.Listening
  /// The socket on ::1, where the redirect names `localhost` and the machine has that address.
  private let second: LoopbackSocket.Listening?
  /// The port of both.
  var port: Int { first.port }
  /// The descriptors, to wait for a connection on them.
  let numbers: [Int32]

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
    first = try LoopbackSocket.listen(on: host == .ipv6 ? .ipv6 : .ipv4, port: UInt16(clamping: port))
    second =
      host == .name ? try LoopbackSocket.listen(ifPresent: .ipv6, port: UInt16(clamping: first.port)) : nil
    numbers = [first.descriptor.number] + (Self.number(of: second))
  }

  private static func number(of socket: borrowing LoopbackSocket.Listening?) -> [Int32] {
    switch socket {
    case .some(let socket): [socket.descriptor.number]
    case .none: []
    }
  }

  private static func failure(_ error: Errno) -> ProviderFailure {
    error == .tooManyDescriptors ? .transient(.overloaded) : .misconfigured(.redirectPort)
  }

  /// Accepts a connection on either address; nil where none waits.
  ///
  /// - Throws: what accept4(2) says.
  func accept() throws(Errno) -> FileDescriptor? {
    if let connection = try UnixSocket.accept(from: first.descriptor) { return connection }
    switch second {
    case .some(let second): return try UnixSocket.accept(from: second.descriptor)
    case .none: return nil
    }
  }

  /// Refuses connections from now on, and lets another login have the port.
  func stop() {
    first.stop()
    switch second {
    case .some(let second): second.stop()
    case .none: break
    }
  }
}
