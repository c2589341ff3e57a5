import BrokerProtocol
import HTTP
import JSON
import SecretMemory

/// The fields of a request's body, before they are written in the backend's words.
struct RequestFields {
  /// The value of a field.
  enum Value {
    /// A value that is no secret.
    case text(String)
    /// A secret, which is wiped.
    case secret(Secret)
    /// A value that is JSON already.
    case json(RawJSON)
    /// A constant of the mapping.
    case constant(RESTEndpoint.Constant)
  }

  /// A field under the backend's name.
  private struct Member {
    let name: String
    let value: Value
  }

  private var members: [Member] = []

  /// Adds a field, or replaces one of the same name: names must be unique.
  mutating func set(_ name: String, _ value: Value) {
    members.removeAll { $0.name == name }
    members.append(Member(name: name, value: value))
  }

  /// Whether there is nothing to say.
  var isEmpty: Bool { members.isEmpty }

  /// Writes the body; every copy on the way is wiped.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  func body(
    _ encoding: RESTMapping.Encoding, for deadline: HTTPRequest.Deadline
  ) throws(HTTPFailure) -> HTTPBody {
    switch encoding {
    case .json: try json(deadline)
    case .form: try form(deadline)
    }
  }

  private func json(_ deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    // Room for the longest form of everything, so that the buffer never moves and leaves no copy behind.
    let room = members.reduce(2) { $0 + 6 * ($1.name.utf8.count + $1.value.byteCount) + 8 }
    var writer = JSONWriter()
    writer.bytes.reserveCapacity(room)
    writer.object { writer in
      for member in members { member.value.write(to: &writer, as: member.name) }
    }
    return try .json(wiping: &writer.bytes, for: deadline)
  }

  private func form(_ deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    let form = FormEncoder()
    for member in members {
      switch member.value {
      case .text(let text): form.append(member.name, text)
      case .secret(let secret): form.append(member.name, secret)
      case .json(let json): form.append(member.name, Self.text(json))
      case .constant(.text(let text)): form.append(member.name, text)
      case .constant(.whole(let number)): form.append(member.name, String(number))
      case .constant(.flag(let flag)): form.append(member.name, flag ? "true" : "false")
      }
    }
    return try form.finish(for: deadline)
  }

  /// The value as a form has it, which knows only strings: a JSON string becomes itself, `null` becomes nothing, the
  /// rest is written as JSON.
  private static func text(_ json: RawJSON) -> String {
    guard let root = try? JSONDocument(parsing: json.text).root, !root.isNull else { return "" }
    return (try? root.string()) ?? String(decoding: json.text, as: UTF8.self)
  }
}

extension RequestFields.Value {
  /// How many bytes there are before any are escaped; numbers and words have 24 at most.
  fileprivate var byteCount: Int {
    switch self {
    case .text(let text), .constant(.text(let text)): text.utf8.count
    case .secret(let secret): secret.byteCount
    case .json(let json): json.text.count
    case .constant: 24
    }
  }

  fileprivate func write(to writer: inout JSONWriter, as name: String) {
    switch self {
    case .text(let text), .constant(.text(let text)): writer.member(name, text)
    case .secret(let secret): writer.member(revealing: name, secret)
    case .json(let json): writer.member(name, json)
    case .constant(.whole(let number)): writer.member(name, number)
    case .constant(.flag(let flag)): writer.member(name, flag)
    }
  }
}
