import AuthBrokerClient
import BrokerProtocol
import BrokerServer
import JSON
import JSONRPC
import LinuxSystem
import Synchronization
import TestSupport

/// The Swift client library in place of a connection: each message becomes a typed call, each result a message again.
final class LibraryWire: Wire {
  private let client: BrokerClient
  private let inbox: MessageInbox
  private var isClosed = false

  init(_ open: @escaping @Sendable () async throws -> BrokerClient) throws {
    client = try TaskResult.waiting(for: open)
    inbox = try MessageInbox()
  }

  func send(_ message: [UInt8]) throws {
    let request = try JSONDocument(parsing: message).root
    let id = Array(try request.required("id").text)
    let body = try body(of: try request.required("method").string(), request["params"])
    inbox.put(ResponseWriter.response(id: id.span, isError: body.isError, body: body.text.span))
  }

  var provesItself: Bool { true }

  func next() throws -> [UInt8]? { isClosed ? inbox.taken() : try inbox.next() }

  func finishSending() throws {
    try TaskResult.waiting { [client] in await client.close() }
    isClosed = true
  }

  private func body(of method: String, _ params: JSONNode?) throws -> (text: [UInt8], isError: Bool) {
    do {
      // A subscription is no plain call: its events come behind the answer.
      if method == Subscribe.name { return (try subscribe(params), false) }
      guard let known = Methods.all.first(where: { $0.name == method }) else {
        throw TestFailure("there is no method \(method)")
      }
      return (try result(known, params), false)
    } catch ClientError.broker(let error) {
      return (Self.text(error), true)
    }
  }

  private func result<Method: BrokerMethod>(_ method: Method.Type, _ params: JSONNode?) throws -> [UInt8] {
    let params = try Method.Params(from: try params ?? Self.nothing())
    return Self.text(try TaskResult.waiting { [client] in try await client.call(method, params) })
  }

  private func subscribe(_ params: JSONNode?) throws -> [UInt8] {
    let params = try Subscribe.Params(from: try params ?? Self.nothing())
    let events = try TaskResult.waiting { [client] in try await client.events(params) }
    let name = events.snapshot.subscriptionID
    Task { [inbox] in
      for await event in events { inbox.put(event.notification(for: name, event.details())) }
    }
    return Self.text(events.snapshot)
  }

  private static func nothing() throws -> JSONNode { try JSONDocument(parsing: Array("{}".utf8)).root }

  private static func text(_ value: some JSONEncodable) -> [UInt8] {
    var writer = JSONWriter()
    value.encode(to: &writer)
    return writer.bytes
  }
}

/// Messages that tasks leave for the thread of a test, which waits for them with a time limit.
private final class MessageInbox: Sendable {
  private let messages = Mutex<[[UInt8]]>([])
  private let bell: FileDescriptor
  private let ear: Mutex<ByteInlet>

  init() throws {
    let (reader, writer) = try FileDescriptor.pipe(nonBlocking: true).ends { ($0.release(), $1.release()) }
    bell = FileDescriptor(owning: writer)
    ear = Mutex(ByteInlet(FileDescriptor(owning: reader)))
  }

  func put(_ message: [UInt8]) {
    messages.withLock { $0.append(message) }
    _ = bell.write([0].span)
  }

  /// The first message, if there is one.
  func taken() -> [UInt8]? { messages.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

  /// The first message; waits for it.
  func next() throws -> [UInt8] {
    let deadline = Patience.end
    while true {
      if let message = taken() { return message }
      _ = try ear.withLock { try $0.read(until: deadline) }
    }
  }
}
