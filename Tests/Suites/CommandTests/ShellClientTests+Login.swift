import Testing

/// The ways to log in, and what comes of a refusal.
extension ShellClientTests {
  @Test(arguments: shells)
  func `the current profile is the one that the program would take`(shell: String) throws {
    let line = #"""
      d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; mkdir -p "$d/authbroker" "$d/.config/authbroker"
      authbroker__connect() { cat >&2; }
      ask() { "$@" 2>&1 | grep -o '"params":{[^}]*}' | head -n 1; }
      HOME=/none; ask authbroker_token
      HOME=$d; printf 'home\r\n' >"$d/.config/authbroker/profile"; ask authbroker_token
      XDG_CONFIG_HOME=$d; printf base >"$d/authbroker/profile"; ask authbroker_token
      AUTHBROKER_PROFILE=variable; ask authbroker_token
      ask authbroker_token --profile named; ask authbroker_logout; ask authbroker_logout --all
      """#
    let expected = ["", "home", "base", "variable", "named", "variable", ""]
    let lines = expected.map { $0.isEmpty ? #""params":{}"# : #""params":{"profile":"\#($0)"}"# }
    #expect(try Self.run(shell, line, "").output == lines.joined(separator: "\n") + "\n")
  }

  @Test(arguments: shells)
  func `a value may stand behind an equals sign`(shell: String) throws {
    let line = "authbroker__connect() { cat >&2; }; authbroker_token --profile=work --audience=a=b 2>&1"
    #expect(try Self.run(shell, line, "").output.contains(#""params":{"profile":"work","audience":"a=b"}"#))
  }

  @Test(arguments: shells)
  func `a logout says whether there was a session`(shell: String) throws {
    for (state, sentence) in [("signedOut", "not logged in"), ("authenticated", "signed out")] {
      let line = """
        authbroker__connect() { cat >/dev/null; echo '{"jsonrpc":"2.0","id":1,"result":{"state":"\(state)"}}'; }
        authbroker_logout 2>&1
        """
      let (output, code) = try Self.run(shell, line, "")
      #expect(code == 0 && output == "authbroker.sh: \(sentence)\n", "\(output)")
    }
  }

  @Test(arguments: shells)
  func `a logout of all profiles says whether there was a session`(shell: String) throws {
    for (states, sentence) in [(["signedOut"], "not logged in"), (["signedOut", "expired"], "signed out")] {
      let sessions = states.map { #"{"profile":"p","state":"\#($0)"}"# }.joined(separator: ",")
      let line = """
        authbroker__connect() { cat >/dev/null; echo '{"jsonrpc":"2.0","id":1,"result":{"sessions":[\(sessions)]}}'; }
        authbroker_logout --all 2>&1
        """
      let (output, code) = try Self.run(shell, line, "")
      #expect(code == 0 && output == "authbroker.sh: \(sentence)\n", "\(output)")
    }
  }

  @Test(arguments: shells, ["authbroker_token", "authbroker_lock"])
  func `a command that does not exist is named in one sentence`(shell: String, function: String) throws {
    let (output, code) = try Self.run(shell, "AUTHBROKER_COMMAND=/nonexist; \(function) 2>&1", "")
    let sentence = "there is no program /nonexist; set AUTHBROKER_COMMAND to its path"
    #expect(code == 8 && output == "authbroker.sh: \(sentence)\n", "\(output)")
  }

  @Test(arguments: shells, ["token", "header", "status", "status --json"])
  func `a result that cannot be written is a failure in one sentence`(shell: String, command: String) throws {
    let line = """
      authbroker__connect() {
        cat >/dev/null
        echo '{"jsonrpc":"2.0","id":1,"result":{"accessToken":"t","profiles":[{"profile":"p","state":"s"}]}}'
      }
      { authbroker_\(command) >/dev/full; } 2>&1
      """
    let (output, code) = try Self.run(shell, line, "")
    #expect(code == 1 && output == "authbroker.sh: standard output cannot be written\n", "\(output)")
  }

  @Test(arguments: shells)
  func `a provider that refuses what is configured is no outage`(shell: String) throws {
    let data = #""data":{"kind":"providerRejected","nextAction":"fixConfig"}"#
    let answer = #"{"jsonrpc":"2.0","id":1,"error":{"code":1044,"message":"No.",\#(data)}}"#
    let result = try Self.run(shell, "authbroker__check \"$(cat)\" 2>&1", answer)
    #expect(result.code == 1 && result.output.contains("with: authbroker provider-check"), "\(result)")
  }

  @Test(arguments: shells)
  func `both names of a method are understood`(shell: String) throws {
    for (name, onWire) in [
      ("device", "deviceCode"), ("deviceCode", "deviceCode"), ("browser", "browser"), ("client", "clientCredentials"),
      ("clientCredentials", "clientCredentials"),
    ] {
      let line = """
        authbroker__connect() { cat >&2; printf '%s\\n' '{"jsonrpc":"2.0","id":1,"result":{"status":"authenticated","session":{"profile":"default"}}}'; }
        authbroker_login --method \(name) 2>&1
        """
      let (output, code) = try Self.run(shell, line, "")
      #expect(code == 0 && output.contains(#""method":"\#(onWire)""#), "\(output)")
    }
  }

  @Test(arguments: shells)
  func `a login asks for nothing that the profile does not want`(shell: String) throws {
    let line = """
      authbroker__connect() {
        request=$(cat); echo "$request" >&2
        case $request in
          *'"getSession"'*'"work"'*) echo '{"result":{"login":[{"method":"deviceCode","fields":[]}]}}' ;;
          *'"getSession"'*'"robot"'*) echo '{"result":{"state":"signedOut","login":[]}}' ;;
          *'"getSession"'*'"shop"'*) echo '{"result":{"login":[{"method":"password","fields":["phoneNumber","password"]}]}}' ;;
          *'"getSession"'*) echo '{"result":{"login":[{"method":"password","fields":["email","password"]}]}}' ;;
          *'"work"'*) echo '{"result":{"status":"authenticated","session":{"profile":"work"}}}' ;;
          *) echo '{"result":{"status":"authenticated","session":{"profile":"home"}}}' ;;
        esac
      }
      authbroker__credentials() { printf ',"%s":"example"' "$1"; }
      authbroker_login --profile work 2>&1; authbroker_login 2>&1; authbroker_login --profile robot 2>&1
      authbroker_login --profile shop --method password 2>&1; authbroker_login --phone 1 --password-stdin 2>&1
      AUTHBROKER_COMMAND=/proc/nonexistent/authbroker
      authbroker__connect() { authbroker__find; }
      authbroker_token 2>/dev/null; echo "code $?"
      """
    let expected = """
      {"jsonrpc":"2.0","id":1,"method":"getSession","params":{"profile":"work"}}
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"profile":"work","method":"deviceCode"}}
      authbroker.sh: logged in to work
      {"jsonrpc":"2.0","id":1,"method":"getSession","params":{}}
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"email":"example"}}
      authbroker.sh: logged in to home
      {"jsonrpc":"2.0","id":1,"method":"getSession","params":{"profile":"robot"}}
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"profile":"robot"}}
      authbroker.sh: logged in to home
      {"jsonrpc":"2.0","id":1,"method":"getSession","params":{"profile":"shop"}}
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"profile":"shop","phoneNumber":"example"}}
      authbroker.sh: logged in to home
      {"jsonrpc":"2.0","id":1,"method":"login","params":{"":"example"}}
      authbroker.sh: logged in to home
      code 8

      """
    #expect(try Self.run(shell, line, "").output == expected)
  }

  @Test(arguments: shells)
  func `an authenticator's code was sent nowhere`(shell: String) throws {
    for (destination, sentence) in [
      ("", "enter the code of your authenticator"), ("•42", "sent a code to •42"),
    ] {
      let challenge = #"{"otpFlowId":"f","maskedDestination":"\#(destination)"}"#
      let answer = #"{"result":{"status":"otpRequired","challenge":\#(challenge)}}"#
      let output = try Self.run(shell, "stdin=1; authbroker__finish \"$(cat)\" 2>&1", answer).output
      #expect(output.hasPrefix("authbroker.sh: \(sentence)\n"), "\(output)")
    }
  }

  @Test(arguments: shells)
  func `the only login that waits for a code need not be named`(shell: String) throws {
    for (logins, sent, exit) in [
      (
        #"[{"otpFlowId":"flow-1","profile":"work"}]"#,
        #""method":"verifyOtp","params":{"otpFlowId":"flow-1","code":"123"}"#, 0
      ),
      ("[]", #""method":"listPendingLogins","params":{"profile":"work"}"#, 3),
    ] {
      let line = """
        authbroker__connect() {
          request=$(cat); echo "$request" >&2
          case $request in
            *listPendingLogins*) echo '{"result":{"logins":\(logins)}}' ;;
            *) echo '{"result":{"status":"authenticated","session":{"profile":"work"}}}' ;;
          esac
        }
        authbroker_verify_otp --profile work --code-stdin 2>&1
        """
      let result = try Self.run(shell, line, "123\n")
      #expect(result.code == Int32(exit) && result.output.contains(sent), "\(result)")
    }
  }
}
