import Testing

/// The ways to log in, and what comes of a refusal.
extension ShellClientTests {
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
}
