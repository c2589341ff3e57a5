import BrokerServer
import Configuration
import LinuxSystem
import Logging
import StateDirectory
import Transport

/// Keeping the broker's sockets reachable: a path that has gone, with the directory of a login that ended or by a
/// cleaner, is bound again. Where the state directory itself has gone, the broker ends.
extension Daemon {
  /// The pause between a change of a socket's directory and the check whether the socket is still there.
  private static let quietTime = Duration.milliseconds(100)
  /// The interval of checks where the kernel reports no changes, and the pause before a socket that could not be bound
  /// is tried again.
  private static let lookTime = Duration.seconds(5)

  /// Watches the directories of the sockets; a socket of a service manager is the manager's.
  func watchSockets(_ server: BrokerServer) {
    socketWatcher?.stop()
    socketWatcher = nil
    let isOwn = !socket.isEmpty && server.assumeIsolated { $0.ownsSocketPath }
    let paths = (isOwn ? [socket] : []) + limitedSockets.filter { $0.admission != nil }.map(\.path)
    let directories = paths.map { PathName.directory(of: $0) }
    areSocketsWatched = true
    guard let first = directories.first else { return }
    do throws(Errno) {
      let watch = try DirectoryWatch(first)
      for directory in directories.dropFirst() {
        do throws(Errno) { try watch.add(directory) } catch { areSocketsWatched = false }
      }
      socketWatcher = try DirectoryWatcher(loop: loop, watch: watch) { [weak self] in
        self?.assumeIsolated { $0.lookAtSockets(after: Self.quietTime) }
      }
    } catch {
      areSocketsWatched = false
    }
    // One may have gone before it was watched.
    lookAtSockets(after: areSocketsWatched ? Self.quietTime : Self.lookTime)
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

  private func lookAtSockets(after delay: Duration) {
    guard !willLookAtSockets else { return }
    willLookAtSockets = true
    // The loop keeps the timer, and this actor, for as long as the process lives.
    _ = loop.schedule(after: delay) {
      self.assumeIsolated { daemon in
        daemon.willLookAtSockets = false
        daemon.restoreSockets()
      }
    }
  }

  /// Binds the sockets that have gone: where they were, or in the state directory.
  private func restoreSockets() {
    guard !isStopping, let server, !endIfLeft() else { return }
    let isMissing = !server.assumeIsolated { $0.isInPlace() }
    let isRestored = isMissing && [source.paths.socket, source.paths.ownSocket].contains { bindAgain(server, $0) }
    let limited = restoreLimitedSockets(server)
    // Without a watcher, it is looked again and again.
    if isRestored || limited.restored > 0 || !areSocketsWatched { return watchSockets(server) }
    if isMissing || limited.missing > 0 { lookAtSockets(after: Self.lookTime) }
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
  /// the configured one; those that have the names of limited sockets are kept for these. An owner on standard input and output goes on without a socket where a sandbox forbids one.
  ///
  /// - Returns: where it listens; empty for no socket.
  func listen(_ server: BrokerServer) throws(StartFailure) -> String {
    var path = source.paths.socket
    do {
      passedSockets = try SocketActivation(environment: environment, pid: ProcessIdentity.pid)
      if let socket = try passedSockets.takeOwn(besides: Set(configuration.sockets.map(\.name))) {
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
