import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// The doors of a sandbox, and the variables that tell of them.
struct SandboxDoors {
  /// One door.
  struct Door {
    /// The server that it leads to, as it was named; nil where the rules name one alone.
    let origin: String?
    /// Its id.
    let id: String
    /// Its Unix socket, outside of the sandbox.
    let path: String
    /// The port of 127.0.0.1 in the sandbox that leads to it.
    let port: UInt16
    /// The text that stands in the place of the token, no secret to the program and worth nothing elsewhere.
    let placeholder: String

    /// Its address in the sandbox.
    var url: String { "http://127.0.0.1:\(port)" }
    /// The place of its socket in the sandbox.
    var place: String { "\(SandboxLayout.folder)/door-\(port).sock" }
  }

  /// The first port; there is no other program in the sandbox that could have it already.
  private static let firstPort: UInt16 = 8401
  /// The longest time of a limited socket, which ends with its connection.
  private static let longestLife = Duration.seconds(2_592_000)

  /// The doors; that of the command line, or the first that is named otherwise, comes first.
  private(set) var list: [Door] = []
  /// The variables that tell of them.
  private(set) var variables: [String: String] = [:]
  /// The parameters of the socket by which the programs in the sandbox have requests sent.
  let limitedSocket: OpenSocket.Params

  /// Opens the doors that a command line names.
  ///
  /// - Parameters:
  ///   - context: of the command.
  ///   - origin: the server that is named; nil for none.
  ///   - addresses: the values of `--url-env`.
  ///   - tokens: the values of `--token-env`.
  ///   - connection: with which the doors end.
  /// - Throws: the broker's refusal, or a usage failure.
  init(
    _ context: Context, _ origin: String?, addresses: [String], tokens: [String],
    on connection: inout BlockingConnection
  ) throws(CommandFailure) {
    let (addresses, tokens) = (addresses.map(Self.parts), tokens.map(Self.parts))
    guard (addresses + tokens).allSatisfy({ !$0.name.isEmpty }) else {
      throw .usage("--url-env and --token-env need the name of a variable, and = where something follows it")
    }
    let named = (addresses + tokens).compactMap { Self.isAddress($0.value) ? Self.origin(of: $0.value) : nil }
    var origins: [String?] = []
    for server in (origin.map { [$0] } ?? []) + named where !origins.contains(server) { origins.append(server) }
    if origins.isEmpty { origins = [nil] }
    for server in origins { list.append(try Self.open(server, list.count, context, &connection)) }
    let ids = list.map { $0.id }
    let open = try context.call(ListDoors.self, Empty(), on: &connection).doors.filter { ids.contains($0.doorID) }
    var profiles: [ProfileName] = []
    for door in open where !profiles.contains(door.profile) { profiles.append(door.profile) }
    limitedSocket = OpenSocket.Params(
      profiles: profiles, methods: [SendRequest.name], may: "use", lifetime: Self.longestLife, whileConnected: true)
    variables = [
      "AUTHBROKER_DOOR_URL": list[0].url, "AUTHBROKER_DOOR_SOCKET": list[0].place,
      "AUTHBROKER_DOOR_TOKEN": list[0].placeholder,
    ]
    for (name, value) in addresses {
      variables[name] =
        Self.isAddress(value)
        ? door(to: value).url + value.dropFirst(Self.origin(of: value).count) : list[0].url + value
    }
    for (name, value) in tokens { variables[name] = door(to: value).placeholder }
  }

  private func door(to address: String) -> Door {
    list.first { $0.origin.map { Self.origin(of: address) == $0 } ?? false } ?? list[0]
  }

  private static func open(
    _ origin: String?, _ index: Int, _ context: Context, _ connection: inout BlockingConnection
  ) throws(CommandFailure) -> Door {
    let door = try context.call(OpenDoor.self, try DoorDraft.params(context, origin), on: &connection)
    let placeholder = door.placeholder.withBytes { bytes in
      String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
    return Door(
      origin: origin, id: door.doorID, path: String(door.url.dropFirst("unix:".count)),
      port: firstPort + UInt16(index), placeholder: placeholder)
  }

  /// Whether a word is the address of a server.
  static func isAddress(_ word: String) -> Bool { word.hasPrefix("https://") || word.hasPrefix("http://") }

  /// An address up to its path.
  private static func origin(of address: String) -> String {
    let scheme = address.utf8.prefix { $0 != UInt8(ascii: "/") }.count + 2
    let server = address.utf8.dropFirst(scheme).prefix { $0 != UInt8(ascii: "/") }
    return String(address[..<server.endIndex])
  }

  /// The name of a variable, and what stands behind `=`.
  private static func parts(_ word: String) -> (name: String, value: String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }
}
