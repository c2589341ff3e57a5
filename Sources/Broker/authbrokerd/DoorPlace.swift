import BrokerCore
import BrokerProtocol
import Doors
import LinuxSystem

/// The place of a door: where its clients connect.
struct DoorPlace: ~Copyable {
  /// The socket.
  let listener: Door.Listener
  /// Its address.
  let url: String
  /// Its port; nil for a Unix socket.
  let port: Int?
  /// The directory that was made for it; nil for a port, and where it was chosen.
  let directory: String?
}

extension DoorPlace {
  /// The place that a client has passed.
  ///
  /// - Parameter passed: the descriptor that came with the request; nil where none came.
  /// - Throws: `invalidParams` for what is no socket at which the peers can be judged.
  init(_ passed: PassedDescriptor?) throws(BrokerError) {
    guard let passed else {
      throw .unfit(
        "/descriptor",
        "must come with one listening socket, passed with the bytes of this request (SCM_RIGHTS), and none came, or more than one; "
          + "a relay passes none, and behind a request for a token send it again")
    }
    do throws(PassedDescriptor.Refusal) {
      let kind = try passed.kind()
      guard let listener = try? passed.listener() else { throw .notListening }
      switch kind {
      case .unix(let path):
        self.init(listener: .passedUnix(listener), url: "unix:\(path)", port: nil, directory: nil)
      case .port(let port):
        self.init(
          listener: .passedPort(listener), url: "http://127.0.0.1:\(port)", port: port, directory: nil)
      }
    } catch {
      switch error {
      case .notListening:
        throw .unfit("/descriptor", "must be a stream socket that listens: call listen(2) on it first")
      case .notLocal:
        throw .unfit("/descriptor", "must be a Unix socket, or bound to a loopback address such as 127.0.0.1")
      case .otherNetwork:
        throw .unfit(
          "/descriptor",
          "must be in the broker's network namespace, or a Unix socket: else it is not known who connects")
      }
    }
  }
}
