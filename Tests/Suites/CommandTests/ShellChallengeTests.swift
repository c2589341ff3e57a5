import TestSupport
import Testing

/// The challenge of an API on its way through the shell client.
@Suite(.standardTimeLimit) struct ShellChallengeTests {
  @Test(arguments: ShellClientTests.shells)
  func `a command tells the challenge of an API by descriptor 9, and its output stays its own`(shell: String) throws {
    let line = #"""
      authbroker__connect() {
        case $1 in
          getAccessToken) echo '{"result":{"accessToken":"one","tokenId":"1","profile":"work"}}' ;;
          *) cat >&2
             echo '{"result":{"accessToken":"two","tokenId":"2","profile":"work","tokenType":"","header":"Authorization"}}' ;;
        esac
      }
      call() { read -r header; echo "$header"; [ -z "$2" ] || echo "$2" >&9; case $header in *one) return "$1" ;; esac; }
      authbroker_with_token -- call 41 'Bearer realm="a b"' 2>&1; echo $?
      authbroker_with_token -- call 43 'Bearer scope="x"' 2>&1; echo $?
      authbroker_with_token -- call 43 '' 2>&1; echo $?
      authbroker_with_token -- call 41 "$(printf '%09000d' 1)" 2>&1; echo $?
      """#
    let report = #"{"jsonrpc":"2.0","id":1,"method":"reportRejected","params":{"profile":"work","tokenId":"1""#
    #expect(
      try ShellClientTests.run(shell, line, "").output == """
        Authorization: Bearer one
        \(report),"challenge":"Bearer realm=\\"a b\\""}}
        Authorization: two
        0
        Authorization: Bearer one
        \(report),"challenge":"Bearer scope=\\"x\\"","status":403}}
        Authorization: two
        0
        Authorization: Bearer one
        43
        Authorization: Bearer one
        \(report)}}
        Authorization: two
        0

        """)
  }
}
