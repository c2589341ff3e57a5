import AuthBrokerClient
import BrokerProtocol
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
      switch method {
      case Subscribe.name: return (try subscribe(params), false)
      case Register.name: return (try result(Register.self, params), false)
      case Login.name: return (try result(Login.self, params), false)
      case VerifyOTP.name: return (try result(VerifyOTP.self, params), false)
      case ResendOTP.name: return (try result(ResendOTP.self, params), false)
      case AwaitLogin.name: return (try result(AwaitLogin.self, params), false)
      case CancelLogin.name: return (try result(CancelLogin.self, params), false)
      case ListPendingLogins.name: return (try result(ListPendingLogins.self, params), false)
      case Reauthenticate.name: return (try result(Reauthenticate.self, params), false)
      case GetAccessToken.name: return (try result(GetAccessToken.self, params), false)
      case ReportRejected.name: return (try result(ReportRejected.self, params), false)
      case GetIDToken.name: return (try result(GetIDToken.self, params), false)
      case GetCurrentUser.name: return (try result(GetCurrentUser.self, params), false)
      case GetSession.name: return (try result(GetSession.self, params), false)
      case Unsubscribe.name: return (try result(Unsubscribe.self, params), false)
      case Lock.name: return (try result(Lock.self, params), false)
      case Unlock.name: return (try result(Unlock.self, params), false)
      case CheckProviders.name: return (try result(CheckProviders.self, params), false)
      case CheckVault.name: return (try result(CheckVault.self, params), false)
      case GetStatus.name: return (try result(GetStatus.self, params), false)
      case Logout.name: return (try result(Logout.self, params), false)
      default: throw TestFailure("the library is not asked for \(method)")
      }
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
