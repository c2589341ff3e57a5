import BrokerProtocol
import JSON

/// A command line of `keyring`, as far as it is ours to answer (jaraco/keyring, keyring/cli.py).
///
/// Options may stand before and behind the operation, and with or without `=`: pip writes
/// `keyring --mode=creds --output=json get URL`, uv `keyring get URL --mode creds`.
struct KeyringCall: Equatable {
  /// The operation on a service.
  enum Operation: Equatable {
    /// A password is printed; the user is known.
    case password
    /// A user name and a password are printed; the user that was named is a hint.
    case credential
    /// A password is stored or removed.
    case change
  }

  /// The operation.
  let operation: Operation
  /// The service: an address for pip and uv, or a host.
  let service: String
  /// The user, where one was named.
  let user: String?
  /// Whether the answer is JSON.
  let isJSON: Bool

  /// A command line that is not about one service, or that only the real program understands.
  enum Foreign: Error, Equatable {
    /// It is for the real program, such as `--list-backends`.
    case foreign
    /// Words are missing, as the real program says it.
    case incomplete(String)
  }

  /// Takes words apart.
  ///
  /// - Throws: ``Foreign`` for what is not ours to answer.
  init(_ words: [String]) throws(Foreign) {
    var operands: [String] = []
    var values = ["--mode": "password", "--output": "plain"]
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word.utf8.count > 1 else {
        operands.append(word)
        continue
      }
      if word == "--" {
        operands += rest
        break
      }
      let name = String(word.prefix { $0 != "=" })
      guard values[name] != nil else { throw .foreign }
      if word.utf8.count > name.utf8.count {
        values[name] = String(word.dropFirst(name.count + 1))
      } else {
        guard let value = rest.popFirst() else { throw .foreign }
        values[name] = value
      }
    }
    let (mode, output) = (values["--mode"] ?? "", values["--output"] ?? "")
    guard ["password", "creds"].contains(mode), ["plain", "json"].contains(output), operands.count <= 3 else {
      throw .foreign
    }
    switch operands.first {
    case "get": operation = mode == "creds" ? .credential : .password
    case "set", "del": operation = .change
    default: throw .foreign
    }
    let wanted = operation == .credential ? 2 : 3
    guard operands.count >= wanted else {
      throw .incomplete("\(operands[0]) requires service\(wanted == 3 ? " and username" : "")")
    }
    service = operands[1]
    user = operands.count > 2 ? operands[2] : nil
    isJSON = output == "json"
  }

  /// The addresses that the service may mean, in the order in which they are tried: pip and uv ask for the address of
  /// an index first, then for its host, with the port if it has one.
  var addresses: [String] {
    let services = service.includes("://") ? [service] : ["https://\(service)", "http://\(service)"]
    return services.map { TargetUser.named(user, in: $0) }
  }
}
