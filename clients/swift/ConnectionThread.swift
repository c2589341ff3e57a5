#if !hasFeature(Embedded)
import ClientSocket
import LinuxSystem

/// The one thread of a connection: it connects and then reads, both of which wait, so that no thread of the global pool
/// has to.
actor ConnectionThread {
  private nonisolated let worker = WorkerThread(name: "authbroker")

  /// Everything here runs on that thread, which the actor keeps alive.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe worker.asUnownedSerialExecutor() }

  /// Starts the thread.
  ///
  /// - Throws: `noBroker` where the machine gives no thread.
  nonisolated func begin() throws(ClientError) {
    do throws(Errno) { try worker.start() } catch {
      throw .noBroker(reason: "no thread can be started for the connection: \(error).")
    }
  }

  /// Finds or starts the broker.
  func connect(to location: BrokerLocation) throws(ClientError) -> ClientChannel {
    let connection = try location.connect()
    let state = connection.state
    return try ClientChannel(socket: connection.socket(), stateDirectory: state)
  }

  /// Starts a private broker.
  func start(_ broker: PrivateBroker) throws(ClientError) -> (ClientChannel, ChildProcess) {
    let (socket, child) = try broker.start()
    return (try ClientChannel(socket: FileDescriptor(owning: socket)), child)
  }

  /// Reads until the connection ends, then waits for the end of the broker if it is this process's own.
  func serve(_ channel: ClientChannel, _ child: ChildProcess?) {
    channel.run()
    guard let child else { return }
    channel.hangUp()
    _ = try? child.wait()
  }

  /// Ends the thread, once `serve` has come to its end.
  nonisolated func stop() { worker.stop() }
}
#endif
