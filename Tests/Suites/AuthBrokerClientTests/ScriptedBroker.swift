import Glibc
import JSON
import LinuxSystem
import Testing

@testable import AuthBrokerClient

/// The other end of a client's connection: a thread that follows a script.
final class ScriptedBroker: Sendable {
  /// What a script reads and writes with.
  struct Wire: ~Copyable {
    let socket: FileDescriptor
    private var buffer: [UInt8] = []

    init(_ socket: consuming FileDescriptor) { self.socket = socket }

    /// The next message; nil when the client has gone.
    mutating func read() -> JSONNode? {
      var chunk = [UInt8](repeating: 0, count: 65536)
      while true {
        if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
          let line = Array(buffer[..<end])
          buffer.removeFirst(end + 1)
          return try? JSONDocument(parsing: line, limits: JSONLimits(depth: 64, byteCount: 64 << 20)).root
        }
        guard case .bytes(let count) = socket.read(into: &chunk) else { return nil }
        buffer += chunk[..<count]
      }
    }

    func write(_ text: String) {
      let bytes = Array(text.utf8)
      try? socket.sendAll(bytes.span)
    }

    /// Answers a request with the text of a result.
    func answer(_ request: JSONNode?, _ result: String) {
      write(#"{"jsonrpc":"2.0","id":\#(ScriptedBroker.id(request)),"result":\#(result)}"# + "\n")
    }

    /// Answers a request with an error.
    func refuse(_ request: JSONNode?, _ code: Int, _ data: String) {
      let error = #"{"code":\#(code),"message":"No.","data":\#(data)}"#
      write(#"{"jsonrpc":"2.0","id":\#(ScriptedBroker.id(request)),"error":\#(error)}"# + "\n")
    }
  }

  /// The client's end.
  let socket: FileDescriptor

  private final class Script: Sendable {
    let number: Int32
    let body: @Sendable (inout Wire) -> Void

    init(_ number: Int32, _ body: @escaping @Sendable (inout Wire) -> Void) {
      self.number = number
      self.body = body
    }

    func run() {
      var wire = Wire(FileDescriptor(owning: number))
      body(&wire)
    }
  }

  init(_ body: @escaping @Sendable (inout Wire) -> Void) throws {
    let pair = try UnixSocket.pair()
    socket = try pair.first.duplicate()
    let context = Unmanaged.passRetained(Script(try pair.second.duplicate().release(), body)).toOpaque()
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Script>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context)
    pthread_detach(thread)
  }

  static func id(_ request: JSONNode?) -> String {
    String(decoding: request?["id"].map { Array($0.text) } ?? Array("null".utf8), as: UTF8.self)
  }

  /// A parameter that is a string; empty where there is none.
  static func parameter(_ name: String, of request: JSONNode?) -> String {
    (try? request?["params"]?[name]?.string()) ?? ""
  }

  static func method(_ request: JSONNode?) -> String { (try? request?["method"]?.string()) ?? "" }

  /// A client of a scripted broker.
  static func client(_ body: @escaping @Sendable (inout Wire) -> Void) throws -> BrokerClient {
    let broker = try ScriptedBroker(body)
    return try BrokerClient.over(try broker.socket.duplicate())
  }

  /// A blocking connection to a scripted broker.
  static func connection(_ body: @escaping @Sendable (inout Wire) -> Void) throws -> BlockingConnection {
    let broker = try ScriptedBroker(body)
    return BlockingConnection(socket: try broker.socket.duplicate())
  }

  static let session =
    #"{"profile":"default","provider":"local","state":"authenticated","scopes":[],"refreshTokenPresent":true}"#

  static func event(_ sequence: Int, _ name: String = "logout", _ data: String = #"{"reason":"user"}"#) -> String {
    let params =
      #"{"subscriptionId":"s1","sequence":\#(sequence),"event":"\#(name)","profile":"default","#
      + #""time":"2026-01-01T00:00:00Z","data":\#(data)}"#
    return #"{"jsonrpc":"2.0","method":"event","params":\#(params)}"# + "\n"
  }

  static func token(_ value: String) -> String {
    #"{"accessToken":"\#(value)","tokenType":"Bearer","expiresAt":null,"scopes":[],"profile":"default","tokenId":"id-\#(value)"}"#
  }
}
