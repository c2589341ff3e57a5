import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// The token of an address, by the cases that all client packages share (Schemas/addresses.json): the command and, by it,
/// the shell client.
@Suite(.standardTimeLimit) struct SharedAddressTests {
  /// The exchanges of a question, which begin again behind the last one.
  private final class Script: Sendable {
    private let exchanges: [String: String]
    private let order: [String]
    private let place = Mutex(0)
    /// The requests that were not expected.
    let wrong = Mutex<[String]>([])

    init(_ nodes: [JSONNode]) throws {
      var (exchanges, order): ([String: String], [String]) = ([:], [])
      for node in nodes {
        let request = "\(try node.required("method").string()) \(Self.text(try node.required("params")))"
        let name = node["result"] == nil ? "error" : "result"
        exchanges[request] = "\"\(name)\":\(Self.text(try node.required(name)))"
        order.append(request)
      }
      (self.exchanges, self.order) = (exchanges, order)
    }

    func answer(_ method: String, _ params: JSONNode?) -> String {
      let request = "\(method) \(params.map(Self.text) ?? "")"
      let expected = place.withLock { place in
        defer { place += 1 }
        return order[place % order.count]
      }
      if request != expected { wrong.withLock { $0.append(request) } }
      return exchanges[expected] ?? ""
    }

    /// The text of a value without the blanks between its parts.
    private static func text(_ node: JSONNode) -> String {
      String(decoding: node.text, as: UTF8.self).replacing(": ", with: ":").replacing(", ", with: ",")
    }
  }

  private static func questions() throws -> [JSONNode] {
    try JSONDocument(parsing: try Repository.bytes("Schemas/addresses.json")).root.required("questions").elements()
  }

  @Test func `the command and the shell client ask as the other packages do`() throws {
    for question in try Self.questions() {
      let (name, url) = (try question.required("name").string(), try question.required("url").string())
      let scratch = Scratch()
      let script = try Script(try question.required("exchanges").elements())
      let owner = try FakeOwner(in: scratch) { method, params in script.answer(method, params) }
      let settings =
        "AUTHBROKER_COMMAND='\(CommandRun.program)' AUTHBROKER_STATE='\(scratch.file("state"))'; "
        + "export AUTHBROKER_COMMAND AUTHBROKER_STATE; "
      for word in ["token", "header"] {
        let run = try CommandRun([word, "--url", url], in: scratch)
        let shell = try ShellClientTests.run(
          "/bin/dash", "\(settings)authbroker_\(word) --url '\(url)' 2>/dev/null", "")
        if let error = question["error"] {
          let told = try CommandRun([word, "--url", url, "--json"], in: scratch).output
          #expect(told.contains(#""kind":"\#(try error.string())""#), "\(name): \(told)")
          #expect(run.code != 0 && run.output.isEmpty && shell.output.isEmpty && shell.code != 0, "\(name): \(shell)")
        } else {
          let field = try question.optional("header", String.init(from:)) ?? "Authorization"
          let lead = word == "token" ? "" : "\(field): "
          let expected = try question.required(word == "token" ? "token" : "authorization").string()
          #expect(run.output == "\(lead)\(expected)\n" && run.code == 0, "\(name): \(run.output)\(run.errors)")
          #expect(shell.output == run.output && shell.code == 0, "\(name): \(shell)")
        }
      }
      #expect(script.wrong.withLock(\.self) == [], "\(name)")
      #expect(!owner.requests.isEmpty)
    }
  }

  @Test(arguments: ShellClientTests.shells)
  func `the shell client passes on what else was asked for, and reports a refused token`(shell: String) throws {
    let line = #"""
      d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; export d AUTHBROKER_COMMAND="$d/authbroker"
      printf '%s\n' '#!/bin/sh' 'echo "$*" >>"$d/words"' \
        'case $1 in header) if [ -e "$d/new" ]; then n=two; else n=one; fi' \
        'echo "{\"accessToken\":\"x\",\"tokenId\":\"1\",\"profile\":\"work\",\"authorization\":\"$n\"}" ;;' \
        'call) cat >>"$d/words"; : >"$d/new"; echo "{\"accessToken\":\"two\",\"tokenId\":\"2\"}" ;; esac' >"$d/authbroker"
      chmod 700 "$d/authbroker"
      use() { read -r header; echo "$header"; case $header in *one) return 41 ;; esac; }
      authbroker_with_token --url https://a.example/x --scope a --scope 'b c' --audience d --min-validity 9 -- use; echo $?
      authbroker_token --url https://a.example --profile work 2>&1; echo $?
      cat "$d/words"
      """#
    let options = "--url https://a.example/x --min-validity 9 --audience d --scope a b c"
    #expect(
      try ShellClientTests.run(shell, line, "").output == """
        Authorization: one
        Authorization: two
        0
        authbroker.sh: --profile and --url exclude each other
        2
        header --json \(options)
        call --json reportRejected -
        {"profile":"work","tokenId":"1","audience":"d","scopes":["a","b c"]}header --json \(options)

        """)
  }
}
