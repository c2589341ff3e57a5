import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import Doors
import HTTP
import LinuxSystem
import Logging
import SecretMemory
import StateDirectory
import Transport

/// A door of this broker.
struct OpenedDoor {
  /// Its id.
  let id: String
  /// The connection that has opened it, with which it ends.
  let opener: ClientID
  /// The door.
  let door: Door
  /// The description that is told of it.
  var state: DoorState
  /// The directory that was made for its socket; nil for a path of its opener's, and for a port.
  let directory: String?
  /// The end of its time; nil where that is not limited.
  var timer: TimerID?
}

/// The doors that clients have opened: until their connection ends, their time is over, or the broker ends.
extension Daemon {
  /// The most that can be open: more than one person's sandboxes and tools.
  private static let mostDoors = 64
  /// The longest time of one, as of a limited socket that is opened.
  private static let longestLife = Duration.seconds(2_592_000)
  /// The beginning of each id, and of the directories that are made.
  static let doorPrefix = "door-"

  /// Opens, closes and lists them for the server.
  var doorServices: DoorServices {
    var services = DoorServices()
    services.open = { [weak self] params, passed, principal in
      self?.assumeIsolated { daemon in
        Result { () throws(BrokerError) in try daemon.openDoor(params, passed, principal) }
      }
        ?? .failure(BrokerError(.shuttingDown))
    }
    services.close = { [weak self] id, principal in
      self?.assumeIsolated { $0.closeDoors { $0.id == id && $0.isShown(to: principal) } > 0 } ?? false
    }
    services.list = { [weak self] principal in
      self?.assumeIsolated { daemon in
        daemon.doors.filter { $0.isShown(to: principal) }.map { $0.present }
      } ?? []
    }
    services.forget = { [weak self] client in
      self?.assumeIsolated { daemon in
        guard daemon.doors.contains(where: { $0.opener == client }) else { return }
        _ = daemon.closeDoors { $0.opener == client }
      }
    }
    return services
  }

  private func openDoor(
    _ params: OpenDoor.Params, _ passed: PassedDescriptor?, _ principal: Principal
  ) throws(BrokerError) -> OpenDoor.Result {
    guard !isStopping, let broker, let server, let opener = principal.client else { throw BrokerError(.shuttingDown) }
    guard doors.count < Self.mostDoors else {
      throw BrokerError(
        .overloaded, "\(Self.mostDoors) doors are open, which is the most; close one (closeDoor) and try again.")
    }
    try Self.check(params, isLimited: principal.permissions.client?.socket != nil)
    let doorway = try broker.assumeIsolated { broker in
      Result { () throws(BrokerError) in try broker.doorway(params, for: principal) }
    }.get()
    let means = try means(for: opener, of: broker, server)
    let (id, placeholder) = try Self.names(params.placeholder ?? Self.doorPrefix)
    let place = try params.descriptor == true ? DoorPlace(passed) : place(of: id, params)
    let settings = DoorSettings(
      profile: doorway.profile, origin: doorway.origin, placeholder: placeholder, slot: doorway.slot,
      passesUnauthorized: params.unauthorized == "pass", port: place.port)
    let door: Door
    do throws(Errno) { door = try Door(settings, on: place.listener, with: means) } catch {
      throw BrokerError(.overloaded, "The door cannot be opened: \(error).")
    }
    var state = DoorState(doorID: id, profile: doorway.profile, origin: doorway.origin.text, url: place.url)
    state.expiresAt = params.lifetime.map { WallClock.timestamp + $0 }
    let timer = params.lifetime.map { lifetime in
      loop.schedule(after: lifetime) { [weak self] in self?.assumeIsolated { _ = $0.closeDoors { $0.id == id } } }
    }
    doors.append(
      OpenedDoor(id: id, opener: opener, door: door, state: state, directory: place.directory, timer: timer))
    log.notice(
      "a door was opened", .word("id", id), .word("profile", doorway.profile.description),
      .word("origin", doorway.origin.text),
      .word("url", place.url))
    return OpenDoor.Result(doorID: id, url: place.url, placeholder: placeholder)
  }

  /// The means of a door: tokens are lent to it as to the present principal of its opener.
  private func means(for opener: ClientID, of broker: Broker, _ server: BrokerServer) throws(BrokerError) -> DoorMeans {
    let transport: AuthenticatedTransport
    do throws(StartFailure) { transport = try providers.requestTransport(configuration.network) } catch {
      throw BrokerError(.internal, error.message)
    }
    let memory = LoanMemory(of: broker)
    return DoorMeans(transport, memory: memory) { [weak broker, weak server] demand in
      let ends = memory.ends
      guard let broker, let principal = await server?.principal(of: opener, calling: OpenDoor.name) else {
        return .failure(BrokerError(.shuttingDown))
      }
      return await broker.lend(demand, to: principal, keptIn: memory, since: ends)
    }
  }

  private static func check(_ params: OpenDoor.Params, isLimited: Bool) throws(BrokerError) {
    let places = [
      ("path", params.path != nil), ("port", params.port != nil), ("descriptor", params.descriptor == true),
    ]
    let chosen = places.filter(\.1).map(\.0)
    if isLimited, let name = chosen.first {
      throw .unfit("/\(name)", "must be absent: a client of a limited socket has its door where the broker makes it")
    }
    guard chosen.count < 2 else { throw .unfit("/\(chosen[1])", "must be absent, since /\(chosen[0]) is there") }
    if let path = params.path, !PathName.isAbsolute(path) { throw .unfit("/path", "must be absolute") }
    if let port = params.port, port > 65_535 || (1..<1024).contains(port) {
      throw .unfit("/port", "must be 0, or from 1024 to 65535")
    }
    if let lifetime = params.lifetime, lifetime <= .zero || lifetime > longestLife {
      throw .unfit("/lifetimeSeconds", "must be above 0, and at most \(longestLife.components.seconds)")
    }
    let isWord = params.placeholder?.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard isWord ?? true else {
      throw .unfit("/placeholder", "must have letters, digits, hyphens and underscores alone")
    }
  }

  /// An id that no other has, and a placeholder that begins as its client wants.
  private static func names(_ prefix: String) throws(BrokerError) -> (id: String, placeholder: Secret) {
    do {
      let id = doorPrefix + String(try KernelRandom.name().prefix(8))
      var text = Array((prefix + (try KernelRandom.name()) + (try KernelRandom.name()).prefix(8)).utf8)
      return (id, try Secret(wiping: &text))
    } catch { throw BrokerError(.overloaded, BrokerError.secretMemoryMessage) }
  }

  private func place(of id: String, _ params: OpenDoor.Params) throws(BrokerError) -> DoorPlace {
    if let port = params.port {
      do throws(Errno) {
        let socket = try LoopbackSocket.listen(on: .ipv4, port: UInt16(port))
        let chosen = socket.port
        return DoorPlace(listener: .port(socket), url: "http://127.0.0.1:\(chosen)", port: chosen, directory: nil)
      } catch { throw BrokerError(.invalidParams, "The port cannot be opened: \(error).", pointer: "/port") }
    }
    if let path = params.path { try Self.checkIsFree(path) }
    let path = params.path ?? standardPath(of: id)
    do {
      return DoorPlace(
        listener: .unix(try lock.listen(at: path)), url: "unix:\(path)", port: nil,
        directory: params.path == nil ? PathName.directory(of: path) : nil)
    } catch {
      throw BrokerError(.invalidParams, "The socket cannot be opened: \(Self.reason(error))", pointer: "/path")
    }
  }

  /// Closes doors.
  ///
  /// - Returns: how many.
  @discardableResult
  func closeDoors(where isMeant: (OpenedDoor) -> Bool) -> Int {
    let closed = doors.filter(isMeant)
    doors.removeAll { door in closed.contains { $0.id == door.id } }
    for door in closed {
      if let timer = door.timer { loop.cancel(timer) }
      door.door.close()
      if let directory = door.directory { try? DirectoryEntry.removeDirectory(directory) }
      log.notice("a door was closed", .word("id", door.id))
    }
    return closed.count
  }
}

extension OpenedDoor {
  /// Whether a principal may see and close it: its opener, and every unlimited client that is shown its profile.
  func isShown(to principal: Principal) -> Bool {
    principal.client == opener || (principal.permissions.mayProve && principal.shown.includes(state.profile))
  }

  /// The description, with how often it was used by now.
  var present: DoorState {
    var state = state
    let counts = door.counts
    (state.connections, state.forwarded, state.refused) = (counts.connections, counts.forwarded, counts.refused)
    return state
  }
}
