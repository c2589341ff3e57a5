import BrokerServer
import LinuxSystem
import Logging
import StateDirectory
import Transport

/// Keeping the broker's socket reachable: a path that has gone, with the directory of a login that ended or by a
/// cleaner, is bound again. Where the state directory itself has gone, the broker ends.
extension Daemon {
  /// The pause between a change of the socket's directory and the check whether the socket is still there.
  private static let quietTime = Duration.milliseconds(100)
  /// The interval of checks where the kernel reports no changes, and the pause before a socket that could not be bound
  /// is tried again.
  private static let lookTime = Duration.seconds(5)

  /// Watches the directory of the socket; a socket of a service manager is the manager's.
  func watchSocket(_ server: BrokerServer) {
    guard !socket.isEmpty, server.assumeIsolated({ $0.ownsSocketPath }) else { return }
    socketWatcher?.stop()
    socketWatcher = nil
    do throws(Errno) {
      let watch = try DirectoryWatch(PathName.directory(of: socket))
      socketWatcher = try DirectoryWatcher(loop: loop, watch: watch) { [weak self] in
        self?.assumeIsolated { $0.lookAtSocket(after: Self.quietTime) }
      }
      // It may have gone before it was watched.
      lookAtSocket(after: Self.quietTime)
    } catch {
      lookAtSocket(after: Self.lookTime)
    }
  }

  /// Watches the state directory: once it has gone, its path is the next owner's to use.
  func watchState() {
    do throws(Errno) {
      let watch = try DirectoryWatch(source.paths.state)
      stateWatcher = try DirectoryWatcher(loop: loop, watch: watch) { [weak self] in
        self?.assumeIsolated { _ = $0.endIfLeft() }
      }
    } catch {}
    lookAtState()
  }

  /// Looks whether it has gone, and again and again without a watcher.
  private func lookAtState() {
    guard !endIfLeft(), stateWatcher == nil else { return }
    _ = loop.schedule(after: Self.lookTime) { self.assumeIsolated { $0.lookAtState() } }
  }

  /// Ends in order where the lock's path leads elsewhere: flights end and are saved where their files are now, and
  /// nothing is made at the path again.
  private func endIfLeft() -> Bool {
    guard lock.isLeft else { return false }
    guard !isStopping, let server else { return true }
    log.error("the state directory has gone or was replaced: stopping", .word("path", source.paths.state))
    server.assumeIsolated { $0.drain() }
    return true
  }

  private func lookAtSocket(after delay: Duration) {
    guard !willLookAtSocket else { return }
    willLookAtSocket = true
    // The loop keeps the timer, and this actor, for as long as the process lives.
    _ = loop.schedule(after: delay) {
      self.assumeIsolated { daemon in
        daemon.willLookAtSocket = false
        daemon.restoreSocket()
      }
    }
  }

  /// Binds a socket that has gone: where it was, or in the state directory.
  private func restoreSocket() {
    guard !isStopping, let server, !endIfLeft() else { return }
    guard !server.assumeIsolated({ $0.isInPlace() }) else {
      // Without a watcher, it is looked again and again.
      return socketWatcher == nil ? lookAtSocket(after: Self.lookTime) : ()
    }
    for path in [source.paths.socket, source.paths.ownSocket] where bindAgain(server, path) {
      return watchSocket(server)
    }
    lookAtSocket(after: Self.lookTime)
  }

  private func bindAgain(_ server: BrokerServer, _ path: String) -> Bool {
    do {
      try server.listen(try lock.listen(at: path))
      socket = path
      try lock.publish(record(of: path))
      log.warning("the socket had gone and was bound again", .word("socket", path))
      return true
    } catch {
      log.warning("the socket has gone", .word("path", path), .word("reason", "\(error)"))
      return false
    }
  }
}

/// The listening socket of the broker.
extension Daemon {
  /// Listens on the socket, and tells clients where.
  ///
  /// A socket that a service manager passed is taken (sd_listen_fds(3)), and the record names the path that it has, not
  /// the configured one. An owner on standard input and output goes on without a socket where a sandbox forbids one.
  ///
  /// - Returns: where it listens; empty for no socket.
  func listen(_ server: BrokerServer) throws(StartFailure) -> String {
    var path = source.paths.socket
    do {
      if let socket = try SocketActivation.takeOver(environment: environment, pid: ProcessIdentity.pid) {
        path = socket.path
        try server.listen(socket, as: .activation)
      } else {
        try server.listen(try lock.listen(at: path))
      }
    } catch {
      guard arguments.mode == .privateOwner else { throw StartFailure(kind: .pathRefused, message: "\(error)") }
      log.warning("no socket", .word("path", path), .word("reason", "\(error)"))
      path = ""
    }
    do throws(Errno) {
      try lock.publish(record(of: path))
    } catch {
      // Clients look at the usual socket, too.
      guard error.isFullDisk, path == source.paths.socket else {
        throw StartFailure(kind: .pathRefused, message: "\(source.paths.ownerLock) cannot be written: \(error)")
      }
      log.error("the disk is full: the lock file does not name the socket", .word("socket", path))
    }
    return path
  }
}
