import BrokerCore
import BrokerProtocol
import HTTP
import HTTPMessage
import SecretMemory
import TextCoding

/// A request that has come to a door, as it will be forwarded: well-formed, of a client that has the placeholder, and without
/// anything of the connection.
struct DoorRequest {
  /// The method.
  let method: APIRequest.Method
  /// The address that it goes to, whatever its client thinks that it talks to.
  let url: HTTPURL
  /// The same, taken apart.
  let address: TargetAddress
  /// The header fields that go along.
  let fields: [HTTPField]
  /// The media type of the body; nil where it is unknown.
  let contentType: String?
  /// The framing of the body.
  let body: BodyFraming
  /// Whether the client waits for leave to send the body (RFC 9110, section 10.1.1).
  let awaitsLeave: Bool
  /// Whether another request may follow on the connection.
  let keepsConnection: Bool
  /// Whether the client understands chunks (RFC 9112, section 7.1).
  let takesChunks: Bool

  /// Fields that hold credentials of other kinds: what a client has by itself goes nowhere by this door.
  private static let credentials: Set = [
    "authorization", "cookie", "dpop", "x-api-key", "api-key", "x-auth-token", "x-access-token", "x-goog-api-key",
    "private-token",
    "x-amz-security-token", "x-csrf-token",
  ]
  /// Fields of the connection (RFC 9110, section 7.6.1), and those that are written again.
  private static let ofConnection: Set = [
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "content-length", "upgrade", "expect", "host",
  ]

  /// Reads a head.
  ///
  /// - Throws: why it is not forwarded.
  init(_ head: borrowing RequestHead, at door: DoorSettings) throws(DoorRefusal) {
    guard let method = APIRequest.Method(rawValue: head.method) else {
      throw .malformed("The method is none that a door forwards.", status: 405)
    }
    self.method = method
    try Self.checkClient(head, at: door)
    let target = String(decoding: head.target, as: UTF8.self)
    guard target.hasPrefix("/") else {
      throw .malformed("The target must be a path: this is the door to one server, and no proxy.")
    }
    do {
      guard let server = door.server else { throw HTTPFailure.invalidURL }
      address = try TargetAddress(target: target, at: door.origin)
      url = try server.at(target: target)
    } catch { throw .malformed("The path could be read in two ways, or has characters that no address has.") }
    body = head.body
    guard method != .head || body == .length(0) else {
      throw .malformed("A HEAD request has no body (RFC 9110, section 9.3.2).")
    }
    takesChunks = !head.isOld
    let list = head.list
    let named = Self.connectionOptions(list)
    guard !named.contains(door.slot) else { throw .malformed("The field Connection names a credential.") }
    guard head.count(of: "upgrade") == 0, !named.contains("upgrade") else {
      throw .malformed("A door does not change the protocol of a connection.", status: 501)
    }
    keepsConnection = !head.isOld && !named.contains("close")
    let expectation = head.value(of: "expect").map { String(decoding: $0, as: UTF8.self).lowercased() }
    guard expectation == nil || expectation == "100-continue" else {
      throw .malformed("The field Expect names something unknown.", status: 400)
    }
    awaitsLeave = expectation != nil && takesChunks && body != .length(0)
    (fields, contentType) = try Self.forwarded(list, besides: named, door.slot)
  }

  /// Whether its body can be sent a second time: it is short, and so is held.
  var isHeld: Bool { if case .length(let count) = body { count <= Self.mostHeld } else { false } }
  /// The longest body that is held.
  static let mostHeld = 1 << 20

  private static func connectionOptions(_ list: [(name: String, value: String)]) -> Set<String> {
    Set(
      list.filter { $0.name == "connection" }.flatMap { $0.value.lowercased().split(separator: ",") }.map {
        $0.filter { $0 != " " && $0 != "\t" }
      })
  }

  private static func forwarded(
    _ list: [(name: String, value: String)], besides named: Set<String>, _ slot: String
  ) throws(DoorRefusal) -> ([HTTPField], String?) {
    var (fields, type): ([HTTPField], String?) = ([], nil)
    for (name, value) in list where name != slot && !ofConnection.contains(name) && !named.contains(name) {
      guard !credentials.contains(name), !name.hasPrefix("proxy-") else {
        throw .malformed("The field \(name) is a credential of the client's own, which no door forwards.")
      }
      guard !APIRequest.isOverriding(name) else {
        throw .malformed("The field \(name) could make another request of this one than the door has judged.")
      }
      if name == "content-type" {
        guard type == nil else { throw .malformed("The field Content-Type stands twice.") }
        type = value
        continue
      }
      guard !value.isEmpty else { continue }
      do throws(HTTPFailure) { fields.append(try HTTPField(forwarding: name, value)) } catch {
        throw .malformed("The field \(name) cannot be forwarded: it is too long, or has other characters than ASCII.")
      }
    }
    return (fields, type)
  }

  // MARK: The client

  /// Refuses a client that has no placeholder, and what a browser sends for a page of another server.
  private static func checkClient(_ head: borrowing RequestHead, at door: DoorSettings) throws(DoorRefusal) {
    if door.port != nil {
      let host = head.value(of: "host") ?? []
      guard door.hosts.contains(where: { $0.utf8.elementsEqual(host, by: { $0 == HTTPToken.lowercase($1) }) }) else {
        throw .denied(
          "The field Host names another server than this door: a page in a browser may have been lured here.")
      }
    }
    guard head.count(of: "origin") == 0, head.count(of: "sec-fetch-site") == 0 else {
      throw .denied("The request is one of a page in a browser, for which no door is.")
    }
    let count = head.count(of: door.slot)
    guard count <= 1 else { throw .malformed("The field \(door.slot) stands twice.") }
    guard let value = head.value(of: door.slot) else {
      guard door.port != nil else { return }
      let sentence = "The request has no placeholder: send it as the token, in the field \(door.slot)."
      throw door.passesUnauthorized && door.slot == "authorization" ? .unasked(sentence) : .denied(sentence)
    }
    guard holds(value, door.placeholder) else {
      throw .denied("The field \(door.slot) has another credential than the placeholder of this door.")
    }
  }

  /// Whether credentials hold the placeholder: behind a scheme, or as user name or password of basic authentication.
  private static func holds(_ value: ArraySlice<UInt8>, _ placeholder: Secret) -> Bool {
    let parts = value.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard parts.count == 2 else { return placeholder.isEqual(to: Array(value).span) }
    let credentials = Array(parts[1].drop { $0 == UInt8(ascii: " ") })
    guard String(decoding: parts[0], as: UTF8.self).lowercased() == "basic" else {
      return placeholder.isEqual(to: credentials.span)
    }
    guard let pair = Base64.decodeAnyForm(credentials.span),
      let colon = pair.firstIndex(of: UInt8(ascii: ":"))
    else { return false }
    let isUser = placeholder.isEqual(to: Array(pair[..<colon]).span)
    let isPassword = placeholder.isEqual(to: Array(pair[(colon + 1)...]).span)
    return isUser || isPassword
  }
}
