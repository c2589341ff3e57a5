import BrokerCore
import BrokerProtocol
import LinuxSystem
import OIDCDialect

/// A socket on which a browser is awaited.
final class RedirectSocket: Sendable {
  /// The socket.
  let listening: LoopbackSocket.Listening
  /// Where.
  var port: Int { listening.port }

  /// Begins to listen.
  ///
  /// - Throws: `.misconfigured(.redirectPort)` where the port cannot be had: another one in the configuration may be free;
  ///   `.transient(.overloaded)` where there are no descriptors.
  init(_ host: LoopbackRedirect.Host, port: Int) throws(ProviderFailure) {
    do throws(Errno) {
      listening = try LoopbackSocket.listen(on: host == .ipv6 ? .ipv6 : .ipv4, port: UInt16(clamping: port))
    } catch .tooManyDescriptors {
      throw .transient(.overloaded)
    } catch {
      throw .misconfigured(.redirectPort)
    }
  }
}
