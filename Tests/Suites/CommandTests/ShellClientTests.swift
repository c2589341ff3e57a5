import JSON
import LinuxSystem
import TestSupport
import Testing

/// The shell client's own JSON, in the shells that it is written for.
@Suite(.standardTimeLimit) struct ShellClientTests {
  /// All of them: where one is missing, its cases fail.
  static let shells = ["/bin/dash", "/bin/bash", "/bin/zsh"]

  /// What keeps a shell from reading somebody's own settings.
  private static func startup(_ shell: String) -> [String] {
    shell.hasSuffix("bash") ? ["--norc"] : shell.hasSuffix("zsh") ? ["-f"] : []
  }

  /// Runs a line of shell behind the script, with `input` as its standard input.
  static func run(_ shell: String, _ line: String, _ input: String) throws -> (output: String, code: Int32) {
    let script = ". \(Repository.root)/clients/shell/authbroker.sh; set -u; \(line)"
    var plan = ChildProcess.Plan(
      path: shell, arguments: startup(shell) + ["-c", script],
      environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"])
    let pair = try UnixSocket.pair()
    plan.descriptors = [(pair.second.number, 0), (pair.second.number, 1), (2, 2)]
    let child = try ChildProcess(plan)
    try pair.first.sendAll(Array(input.utf8).span)
    try pair.first.finishSending()
    let code = try child.wait()
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case .bytes(let count) = pair.first.receive(into: &chunk) { output += chunk[..<count] }
    return (String(decoding: output, as: UTF8.self), code)
  }

  private static let texts = [
    "", "plain", #"quote " backslash \ slash /"#, "tab\tand \u{1}\u{1f}\u{7f}", "ä€😀", "$(id) `id` %s %d -n",
    "  blanks  ", #"\u0041 \n \\"#, "two\nlines", "-e", "{}[],:",
  ]

  @Test(arguments: shells, texts)
  func `any text becomes a JSON string`(shell: String, text: String) throws {
    let (output, code) = try Self.run(shell, "authbroker__quote", text)
    #expect(code == 0)
    #expect(try JSONDocument(parsing: Array(output.utf8)).root.string() == text)
  }

  @Test(arguments: shells, texts)
  func `a member is found behind others and read with its escapes`(shell: String, text: String) throws {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("jsonrpc", "2.0")
      writer.key("result")
      writer.object { writer in
        writer.member("decoy", #"{"accessToken":"no"}"#)
        writer.key("list")
        writer.array { writer in
          writer.object { $0.member("accessToken", "neither") }
          writer.number(-1.5)
        }
        writer.member("accessToken", text)
      }
    }
    let json = String(decoding: writer.bytes, as: UTF8.self)
    let (output, code) = try Self.run(shell, "authbroker__member result.accessToken", json)
    #expect(code == 0)
    #expect(output == text + "\n")
    #expect(try Self.run(shell, "authbroker__member result.list.1", json).output == "-1.5\n")
    #expect(try Self.run(shell, "authbroker__member result.list.0.accessToken", json).output == "neither\n")
    #expect(try Self.run(shell, "authbroker__member error.code", json).code == 1)
  }

  @Test(arguments: shells)
  func `escapes of every kind are undone`(shell: String) throws {
    let json = #"{"a":"\u0041\u00e4\u20ac\ud83d\ude00\/\b\f\n\r\t\\\""}"#
    #expect(try Self.run(shell, "authbroker__member a", json).output == "Aä€😀/\u{8}\u{C}\n\r\t\\\"\n")
  }

  @Test(arguments: shells)
  func `every answer with an error has the exit code of the command`(shell: String) throws {
    let codes = [
      (1001, 3), (1005, 3), (1024, 3), (1044, 5), (1004, 5), (1020, 4), (1022, 4), (1040, 5), (1048, 6), (1060, 7),
      (1061, 4), (1064, 7), (1081, 6),
    ]
    for (code, exit) in codes + [(1084, 8), (-32602, 2), (-32700, 2), (-32603, 1), (1083, 1)] {
      let answer = #"{"jsonrpc":"2.0","id":1,"error":{"code":\#(code),"message":"No.","data":{"kind":"x"}}}"#
      let result = try Self.run(shell, "authbroker__check \"$(cat)\" 2>/dev/null", answer)
      #expect(result.code == Int32(exit), "\(code)")
    }
  }

  @Test(arguments: shells)
  func `a password goes through a pipe into the request and nowhere else`(shell: String) throws {
    let line = """
      authbroker__connect() { cat >&2; printf '%s\\n' '{"jsonrpc":"2.0","id":1,"result":{"status":"authenticated","session":{"profile":"default"}}}'; }
      set -x; authbroker_login --email 'a"b@example.com' --password-stdin 2>&1
      """
    let (output, code) = try Self.run(shell, line, "can\"ary\n")
    #expect(code == 0)
    #expect(output.contains(#""params":{"email":"a\"b@example.com","password":"can\"ary"}"#))
    #expect(output.split(separator: "can\\\"ary", omittingEmptySubsequences: false).count == 2)
    #expect(!output.contains("can\"ary"))
    #expect(output.contains("logged in to default"))
  }

  @Test(arguments: shells)
  func `a passphrase is asked for only where the vault has one`(shell: String) throws {
    for (vault, sent) in [
      (
        #""locked":true,"keySource":"passphrase","initialized":true"#,
        [#""method":"unlock","params":{"passphrase":"can\"ary"}"#]
      ),
      (#""locked":true,"keySource":"file""#, [#""method":"unlock","params":{}"#]),
    ] {
      let line = """
        authbroker__connect() { cat >&2; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"vault":{\(vault)}}}'; }
        set -x; authbroker_unlock --password-stdin 2>&1; authbroker_lock 2>&1
        """
      let (output, code) = try Self.run(shell, line, "can\"ary\n")
      #expect(code == 0, "\(output)")
      for text in sent + [#""method":"lock""#, "the vault is locked", "the vault is open"] {
        #expect(output.contains(text), "\(output)")
      }
      #expect(!output.contains("can\"ary"))
    }
  }

  @Test(arguments: shells)
  func `a login at another device shows what to do and waits, also for the next broker`(shell: String) throws {
    let line = """
      d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
      authbroker__connect() {
        request=$(cat); printf '%s\\n' "$request" >>"$d/requests"
        case $request in
          *'"login"'*) result='"result":{"status":"userActionRequired","action":{"loginFlowId":"f","kind":"deviceCode","verificationUri":"https://id.example","userCode":"AB-CD"}}' ;;
          *) [ -e "$d/late" ] || { : >"$d/late"; printf '%s\\n' '{"error":{"code":1087,"message":"m","data":{"kind":"deadlineExceeded"}}}'; return; }
             [ -e "$d/dead" ] || { : >"$d/dead"; return 8; }
             result=$end ;;
        esac
        printf '{"jsonrpc":"2.0","id":1,%s}\\n' "$result"
      }
      end='"result":{"status":"authenticated","session":{"profile":"work"}}'
      authbroker_login --profile work --method device 2>&1; echo "code $?"
      end='"error":{"code":1082,"message":"No.","data":{"kind":"consentDenied"}}'
      authbroker_login --method browser 2>&1; echo "code $?"; cat "$d/requests"
      authbroker_login --method magic 2>&1; authbroker_login --method device --email a 2>&1; echo "code $?"
      """
    let output = try Self.run(shell, line, "").output
    let expected = """
      authbroker.sh: open https://id.example and enter the code AB-CD
      authbroker.sh: logged in to work
      code 0
      authbroker.sh: open https://id.example and enter the code AB-CD
      authbroker.sh: no
      code 6
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"profile":"work","method":"deviceCode"}}
      {"jsonrpc":"2.0","id":1,"method":"awaitLogin","params":{"loginFlowId":"f","timeoutSeconds":5}}
      {"jsonrpc":"2.0","id":1,"method":"awaitLogin","params":{"loginFlowId":"f","timeoutSeconds":5}}
      {"jsonrpc":"2.0","id":1,"method":"awaitLogin","params":{"loginFlowId":"f","timeoutSeconds":5}}
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"method":"browser"}}
      {"jsonrpc":"2.0","id":1,"method":"awaitLogin","params":{"loginFlowId":"f","timeoutSeconds":5}}
      authbroker.sh: --method is password, deviceCode, browser or clientCredentials
      authbroker.sh: --email, --phone and --password-stdin are for --method password
      code 2

      """
    #expect(output == expected)
  }

  @Test(arguments: shells)
  func `an error says what to do`(shell: String) throws {
    for (data, advice) in [
      (
        #""kind":"sessionExpired","nextAction":"login","profile":"work""#,
        "log in with: authbroker.sh login --profile work"
      ),
      (#""kind":"loginRequired","nextAction":"login","profile":"default""#, "log in with: authbroker.sh login"),
      (
        #""kind":"challengePending","nextAction":"verifyOtp","challenge":{"otpFlowId":"f"}"#,
        "answer it with: authbroker.sh verify-otp f"
      ),
      (#""kind":"rateLimited","nextAction":"wait","retryAfterSeconds":7"#, "try again in 7 s"),
      (#""kind":"timeout","nextAction":"retry""#, "try again later"),
      (#""kind":"configInvalid","nextAction":"fixConfig""#, "see: authbroker config check"),
      (
        #""kind":"tlsFailed","nextAction":"fixConfig","profile":"work""#,
        "see what is wrong with: authbroker provider-check --profile work"
      ),
      (#""kind":"vaultTampered","nextAction":"none""#, "see: authbroker doctor"),
    ] {
      let answer = #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"No.","data":{\#(data)}}}"#
      let output = try Self.run(shell, "authbroker__check \"$(cat)\" 2>&1", answer).output
      #expect(output == "authbroker.sh: no\nauthbroker.sh: \(advice)\n")
    }
  }

  @Test(arguments: shells)
  func `a refused token is reported, and the command run once more with another`(shell: String) throws {
    let line = #"""
      authbroker__connect() {
        case $1$new in
          getAccessToken*) echo '{"result":{"accessToken":"one","tokenId":"1","profile":"work"}}' ;;
          reportRejected1) cat >/dev/null; echo '{"result":{"accessToken":"one","tokenId":"1","profile":"work"}}' ;;
          *) cat >&2; echo '{"result":{"accessToken":"two","tokenId":"2","profile":"work"}}' ;;
        esac
      }
      call() { read -r header; echo "$1: $header"; case $header in *"$2") return 41 ;; *) return "$3" ;; esac; }
      new=''
      authbroker_with_token --audience x -- call 'a b' one 7 2>&1; echo $?
      authbroker_with_token -- call a two 0 2>&1; echo $?
      authbroker_with_token --scope s -- call a '' 0 2>/dev/null; echo $?
      new=1; authbroker_with_token -- call a one 0 2>/dev/null; echo $?
      authbroker_with_token -- 2>&1; authbroker_with_token call 2>&1; echo $?
      """#
    let report = #"{"jsonrpc":"2.0","id":1,"method":"reportRejected","params":{"profile":"work","tokenId":"1""#
    #expect(
      try Self.run(shell, line, "").output == """
        a b: Authorization: Bearer one
        \(report),"audience":"x"}}
        a b: Authorization: Bearer two
        7
        a: Authorization: Bearer one
        0
        a: Authorization: Bearer one
        a: Authorization: Bearer two
        41
        a: Authorization: Bearer one
        41
        authbroker.sh: missing argument COMMAND; usage: with-token [OPTION]... -- COMMAND
        authbroker.sh: unexpected argument
        2

        """)
  }

  @Test(arguments: shells)
  func `what the broker says is fit for a terminal`(shell: String) throws {
    let line = #"authbroker__words '{"m":"a\u001bb\u009bc\u202ed\u200be\u2028f \u00e9"}' m"#
    #expect(try Self.run(shell, line, "").output == "ab?c?d?e?f é\n")
  }

  @Test(arguments: shells)
  func `what a command does not know is refused with 2 and not echoed`(shell: String) throws {
    let lines = [
      "authbroker_token extra", "authbroker_token --code-stdin", "authbroker_verify_otp a b", "authbroker_status --al",
      "authbroker_login --password=canary", "authbroker_token --min-validity 007", "authbroker_watch --count ''",
      "authbroker_logout -x", "authbroker_token --profile ''", "authbroker_token --audience=",
      "authbroker_login --email ''", "authbroker_token --min-validity 99999999999999999999",
      "authbroker_token --min-validity 315360001", "authbroker_verify_otp ''",
      "authbroker_unlock canary", "authbroker_unlock --passphrase=canary", "authbroker_lock --all",
    ]
    for line in lines {
      let result = try Self.run(shell, "\(line) 2>&1", "")
      #expect(result.code == 2, "\(line): \(result.output)")
      #expect(result.output.hasPrefix("authbroker.sh: ") && !result.output.contains("canary"))
    }
  }

  @Test(arguments: shells)
  func `a carriage return is no part of a password`(shell: String) throws {
    let line = "authbroker__connect() { cat >&2; }; authbroker_login --email a@b.c --password-stdin 2>&1"
    #expect(try Self.run(shell, line, "canary\r\n").output.contains(#""password":"canary"}"#))
  }

  @Test(arguments: shells)
  func `an error says what to type next`(shell: String) throws {
    let pending = #"""
      {"id":1,"error":{"code":1003,"message":"No.","data":{"kind":"challengePending","challenge":{"otpFlowId":"f1"}}}}
      """#
    let check = "authbroker__check \"$(cat)\" 2>&1"
    #expect(try Self.run(shell, check, pending).output.hasSuffix("authbroker.sh verify-otp f1\n"))
    let wrong = #"{"id":1,"error":{"code":1022,"message":"No.","data":{"kind":"otpInvalid","attemptsRemaining":4}}}"#
    #expect(try Self.run(shell, check, wrong).output.hasSuffix("attempts left: 4\n"))
    let unknown = #"{"id":1,"error":{"code":1088,"message":"No.","data":{"kind":"unknownTarget"}}}"#
    #expect(try Self.run(shell, check, unknown).output.hasSuffix("add it with: authbroker target add ADDRESS\n"))
  }

  @Test(arguments: shells)
  func `under any name it is a program, and sourced by any script it is none`(shell: String) throws {
    let line = #"""
      d=$(mktemp -d); trap 'rm -r "$d"' EXIT
      ln -s "$client" "$d/ab"; "$d/ab" token --help
      printf '%s\n' '. "$client"' 'echo "sourced $1"' >"$d/deploy"; "$shell" "$d/deploy" token
      """#
    let settings = "export client='\(Repository.root)/clients/shell/authbroker.sh' shell='\(shell)'; "
    let output = try Self.run(shell, settings + line, "").output
    #expect(output.hasPrefix("authbroker.sh: fresh access tokens"))
    #expect(output.hasSuffix("\nsourced token\n"))
  }
}
