import CCurl

/// Checks the connections that are kept between requests.
///
/// One that has ended, or on which the server has sent something unasked, must not be used again: the next request on
/// it would be lost, or take that for its response.
///
/// libcurl 7.88 looks for unread bytes on connections in the clear only, and gives no descriptor before a request is
/// sent; so this remembers the sockets that libcurl opened, and finds the one by its port.
final class KeptConnections {
  // Numbers that were given to libcurl; those that it has closed are dropped when they are met.
  private var sockets: Set<Int32> = []

  /// Nothing opened yet.
  init() {}

  /// Remembers a socket that libcurl got.
  func opened(_ number: Int32) {
    sockets.insert(number)
  }

  /// Whether the connection from a port of this machine must not be used again.
  ///
  /// Should two connections, to different servers, have the same port here, both are examined.
  /// A TLS session ticket that arrives late looks the same: the price is one more handshake.
  func isStale(port: Int32) -> Bool {
    var isFound = false
    for number in sockets {
      switch ccurl_connection_state(number, port) {
      case 1: isFound = true
      case 2: return true
      case 0: continue
      default: sockets.remove(number)
      }
    }
    return !isFound
  }
}
