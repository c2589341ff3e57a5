import BrokerProtocol
import HTTP
import JSON
import SecretMemory

/// The fields of a request's body; every copy of them is wiped.
struct FirebaseFields {
  /// A value.
  indirect enum Value {
    case text(String)
    case secret(Secret)
    case flag(Bool)
    case object([(String, Value)])
  }

  /// The fields, in order.
  let members: [(String, Value)]

  /// Fields.
  init(_ members: [(String, Value)]) {
    self.members = members
  }

  /// The body as JSON.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  func json(for deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    var writer = JSONWriter()
    Self.write(members, to: &writer)
    return try .json(wiping: &writer.bytes, for: deadline)
  }

  /// The body as a form.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  func form(for deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    let form = FormEncoder()
    for (name, value) in members {
      switch value {
      case .text(let text): form.append(name, text)
      case .secret(let secret): form.append(name, secret)
      case .flag(let flag): form.append(name, flag ? "true" : "false")
      // Only the token service takes a form (FirebaseCaller), and its one request has no object.
      case .object: preconditionFailure("A form has no objects.")
      }
    }
    return try form.finish(for: deadline)
  }

  private static func write(_ members: [(String, Value)], to writer: inout JSONWriter) {
    writer.object { writer in
      for (name, value) in members {
        switch value {
        case .text(let text): writer.member(name, text)
        case .secret(let secret): writer.member(revealing: name, secret)
        case .flag(let flag): writer.member(name, flag)
        case .object(let inner):
          writer.key(name)
          write(inner, to: &writer)
        }
      }
    }
  }
}
