package import LinuxSystem
import StateDirectory

/// The file by which a client shows a broker that it has the state directory.
///
/// The broker says how its name begins; the client's process number ends it. It is created only for the owner of the
/// state directory that the client has found itself: whatever else answers on a socket, a relay of another program's
/// above all, gets nothing created, in no directory.
package struct StateProofFile: Sendable {
  /// Why no file is created.
  package enum Refusal: Error, Equatable, Sendable {
    /// No state directory was found, or the broker asks for a file elsewhere.
    case otherDirectory(asked: String, own: String?)
    /// The other end of the connection does not own the state directory.
    case notOwner(peer: Int32, state: String)
    /// The broker is of an earlier version, which asks for another proof.
    case earlierBroker
    /// The state directory cannot be trusted.
    case directory(PrivateDirectory.Refusal)
    /// open(2) said no.
    case failed(directory: String, Errno)
    /// The broker has looked for the file, and was not satisfied.
    case notTaken(path: String)

    /// One sentence, without a full stop.
    package var description: String { "access to the broker's state directory cannot be proven: " + reason }

    private var reason: String {
      switch self {
      case .otherDirectory(let asked, let own?):
        "the broker asks for a file in \(PlainText.line(asked.utf8)), not in \(own); nothing was created"
      case .otherDirectory(_, nil): "this connection was made without a state directory; nothing was created"
      case .notOwner(0, let state):
        "the broker runs in another PID namespace than this program; nothing was created in \(state)"
      case .notOwner(let peer, let state):
        "process \(peer), which answers on the socket, does not own \(state); nothing was created"
      case .earlierBroker: "the running broker is of an earlier version"
      case .directory(let refusal): refusal.description
      case .failed(let directory, let error) where error.isFullDisk:
        "no file can be created in \(directory): \(error); its file system has no inode left, see: df -i"
      case .failed(let directory, let error): "no file can be created in \(directory): \(error)"
      case .notTaken(let path):
        "the broker does not find \(path); it may run in another PID namespace, or see another file system"
      }
    }
  }

  /// The beginning of the names.
  private static let prefix = "proof-"
  /// The beginning of the names that an earlier version asked for.
  private static let earlierPrefix = "prove-"

  /// The absolute path.
  package let path: String
  /// The beginning of its name: without the process number.
  package let name: String
  private let state: String

  /// Looks whether a file may be created for the other end of a connection.
  ///
  /// - Parameters:
  ///   - asked: the path that the broker names, without the process number.
  ///   - state: the state directory that the client has found itself; nil if it has found none.
  ///   - socket: the connection.
  /// - Throws: why not.
  package init(asked: String, in state: String?, for socket: borrowing FileDescriptor) throws(Refusal) {
    let directory = PathName.directory(of: asked)
    let name = asked.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    // Neither `.` nor `..` nor an empty component is in a path that is its own absolute form.
    guard let state, PathName.absolute(asked, in: "/") == asked, !name.isEmpty, Self.isSame(directory, state) else {
      throw .otherDirectory(asked: directory, own: state)
    }
    let peer = (try? PeerCredentials(of: socket))?.pid ?? 0
    let lock = state + "/broker.lock"
    // The record is its owner's while the lock is held: an owner writes it as soon as it has the lock.
    guard peer > 0, OwnerRecord(at: lock)?.pid == peer, FileLock.isHeld(lock) else {
      throw .notOwner(peer: peer, state: state)
    }
    guard !name.hasPrefix(Self.earlierPrefix) else { throw .earlierBroker }
    // Below the directory that was found, whatever leads to the one that was named.
    path = "\(state)/\(name).\(ProcessIdentity.pid)"
    self.name = name
    self.state = state
  }

  /// Looks the same for a name of this client's own, which no other process can guess.
  ///
  /// - Returns: nil where no file may be created.
  package init?(in state: String?, for socket: borrowing FileDescriptor) {
    guard let state, let name = try? KernelRandom.name() else { return nil }
    do throws(Refusal) {
      self = try StateProofFile(asked: "\(state)/\(Self.prefix)\(name)", in: state, for: socket)
    } catch { return nil }
  }

  /// Whether a directory is the state directory, under whatever name.
  private static func isSame(_ directory: String, _ state: String) -> Bool {
    guard directory != state else { return true }
    guard let one = try? FileStatus.following(directory), let other = try? FileStatus.following(state) else {
      return false
    }
    return one.identity == other.identity
  }

  /// Whether a broker of an earlier version has asked for a file: it must be stopped before anything is proven.
  package static func isEarlier(_ asked: String) -> Bool {
    PathName.name(of: asked).utf8.starts(with: earlierPrefix.utf8)
  }

  /// Creates the file, empty; one that is there already is never touched.
  ///
  /// - Returns: false if it is there already: another request of the connection has created it.
  /// - Throws: `directory` for a directory that is not this user's alone, or `failed`.
  package func create() throws(Refusal) -> Bool {
    do throws(PrivateDirectory.Refusal) { _ = try PrivateDirectory(state, create: false) } catch {
      throw .directory(error)
    }
    do throws(Errno) {
      _ = try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow])
      return true
    } catch {
      guard error == .exists else { throw .failed(directory: state, error) }
      return false
    }
  }

  /// The refusal of a broker that did not take the file.
  package var notTaken: Refusal { .notTaken(path: path) }

  /// Removes the file where the broker has not done so.
  package func remove() { try? DirectoryEntry.remove(path) }
}
