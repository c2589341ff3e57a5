import JSON
import TestSupport
import Testing

/// The address that the browser of a login ended at, pasted at the terminal of a machine that has none.
@Suite(.standardTimeLimit) struct BroughtRedirectTests {
  /// The address that a person pastes.
  enum Pasted: String, CaseIterable, Sendable {
    case right, query, wrongState, foreignIssuer, errorWithForeignIssuer, error, truncated, withoutState, bareCode,
      replayed, otherPlace, words

    /// What is said of it, after which the login goes on; nil for one that ends it.
    var objection: String? {
      switch self {
      case .right, .query, .error: nil
      case .wrongState: "this address is of another login; open the address of this one, and log in there"
      case .foreignIssuer, .errorWithForeignIssuer:
        "this address was made by another provider than the profile's; do not use it"
      case .truncated, .withoutState: "this address is cut off; give the whole address that the browser ended at"
      case .bareCode, .words:
        "this is not the address of a finished login; give the whole address that the browser ended at"
      // Each login is awaited on a port of its own.
      case .otherPlace, .replayed:
        "this is not the address that the login returns to; log in with the browser, and give the address that it ends at"
      }
    }

    /// The address, made from the one that the browser really ended at and that of another login.
    func text(_ address: String, other: String) -> String {
      let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
      let values = parts[1].split(separator: "&").map(String.init)
      func query(_ change: (String) -> String?) -> String {
        parts[0] + "?" + values.compactMap(change).joined(separator: "&")
      }
      func isNamed(_ name: String, _ value: String) -> Bool { value.hasPrefix(name + "=") }
      let foreign = "iss=https%3A%2F%2Fevil.example"
      return switch self {
      case .right: address
      case .query: parts[1]
      case .wrongState: query { isNamed("state", $0) ? "state=" + String($0.dropFirst(6).reversed()) : $0 }
      case .foreignIssuer: query { isNamed("iss", $0) ? nil : $0 } + "&" + foreign
      case .errorWithForeignIssuer: query { isNamed("state", $0) ? $0 : nil } + "&error=access_denied&" + foreign
      case .error: query { isNamed("code", $0) ? "error=access_denied" : $0 }
      case .truncated: query { isNamed("state", $0) ? String($0.dropLast(9)) : isNamed("iss", $0) ? nil : $0 }
      case .withoutState: query { isNamed("state", $0) ? nil : $0 }
      case .bareCode: values.first { isNamed("code", $0) }.map { String($0.dropFirst(5)) } ?? ""
      case .replayed: other
      case .otherPlace: "https://127.0.0.1/elsewhere?" + parts[1]
      case .words: "what shall I paste"
      }
    }
  }

  /// A login that waits for its browser, by a command that did not stay.
  private static func begin(_ sandbox: Sandbox) throws -> (flow: String, url: String) {
    let begun = try sandbox.command("login", "--method", "browser", "--no-wait", "--json")
    guard begun.code == 3 else { throw TestFailure("no login was begun: \(begun.output)\(begun.errors)") }
    let action = try JSONDocument(parsing: Array(begun.output.utf8)).root.required("action")
    return (try action.required("loginFlowId").string(), try action.required("verificationUri").string())
  }

  /// Waits for a login at a terminal that is reached over ssh(1), and follows the steps there.
  private static func wait(
    for flow: String, _ steps: [TerminalPlayer.Step], in sandbox: Sandbox
  ) throws -> Sandbox.Outcome {
    let words = [BuiltPrograms.command, "--state", sandbox.state, "login", "--flow", flow]
    return try sandbox.run(
      "/usr/bin/env", TerminalPlayer.arguments(steps, words),
      environment: ["SSH_CONNECTION": "192.0.2.7 1 192.0.2.5 22", "TERM": "dumb"])
  }

  @Test(arguments: Pasted.allCases)
  func `what is pasted is told why it is wrong, and the right address still ends the login`(_ pasted: Pasted)
    async throws
  {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox, #"methods: ["browser"],"#))
      var used = ""
      if pasted == .replayed {
        let before = try Self.begin(sandbox)
        used = try backend.browse(before.url)
        let done = try Self.wait(for: before.flow, [.init(question: "paste it here", answer: used + "\n")], in: sandbox)
        #expect(done.code == 0, "\(done.output)")
      }
      let login = try Self.begin(sandbox)
      let address = try backend.browse(login.url)
      var steps = [
        TerminalPlayer.Step(question: "paste it here", answer: pasted.text(address, other: used) + "\n")
      ]
      if let objection = pasted.objection {
        steps.append(.init(question: objection + "; 9 attempts left\r\n", answer: address + "\n"))
      }
      let done = try Self.wait(for: login.flow, steps, in: sandbox)
      let grants = try backend.tokenRequests().count
      guard pasted != .error else {
        #expect(done.code == 6 && done.output.contains("the user did not agree"), "\(done.output)")
        #expect(grants == 0)
        return
      }
      #expect(done.code == 0 && done.output.contains("logged in to default as alice@example.com"), "\(done.output)")
      // Nothing that was wrong has spent anything.
      #expect(grants == (pasted == .replayed ? 2 : 1))
    }
  }

  @Test func `the tenth wrong address ends the login`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox, #"methods: ["browser"],"#))
      let login = try Self.begin(sandbox)
      let wrong = "code=c&state=made-up\n"
      let steps =
        [TerminalPlayer.Step(question: "paste it here", answer: wrong)]
        + (1...9).reversed().map { .init(question: "; \($0) attempt\($0 == 1 ? "" : "s") left", answer: wrong) }
      let done = try Self.wait(for: login.flow, steps, in: sandbox)
      #expect(done.code == 4 && done.output.contains("too many"), "\(done.output)")
      let late = try Self.wait(for: login.flow, [], in: sandbox)
      #expect(late.code == 4, "\(late.output)")
    }
  }

  @Test func `an address that comes after the listener has won is told how the login ended`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox, #"methods: ["browser"],"#))
      let login = try Self.begin(sandbox)
      let address = try backend.browse(login.url, delivers: true)
      let done = try Self.wait(for: login.flow, [], in: sandbox)
      #expect(done.code == 0 && done.output.contains("logged in to default as alice@example.com"), "\(done.output)")
      let params = #"{"loginFlowId":"\#(login.flow)","redirectUrl":"\#(address)"}"#
      let late = try sandbox.command("call", "completeLogin", "-", input: params)
      #expect(late.code == 0 && late.output.contains(#""status":"authenticated""#), "\(late)")
      #expect(try backend.tokenRequests().count == 1)
    }
  }
}
