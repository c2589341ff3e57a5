import TestSupport
import Testing

/// What is told while a watch goes on.
extension ShellClientTests {
  /// A program in the place of `authbroker connect`: one event after the subscription; it says when its input ended.
  private static let subscribed = #"""
    d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; mkdir "$d/tmp"; export d TMPDIR="$d/tmp"
    printf '%s\n' '#!/bin/sh' '[ "$1" = connect ] || { cat >/dev/null; echo "{}"; exit; }' 'read -r request' \
      'echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"' \
      'echo "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"sequence\":1}}"' \
      'while [ -n "$flood" ] && echo "{\"method\":\"event\",\"params\":{\"sequence\":1}}" 2>"$d/errors"; do :; done' \
      'while read -r more; do :; done' 'echo gone >"$d/gone"' >"$d/connect"
    chmod 700 "$d/connect"; mkfifo "$d/events" "$d/gone"; export flood='' AUTHBROKER_COMMAND="$d/connect"
    """#

  @Test(arguments: shells, ["TERM", "HUP", "KILL"])
  func `a watch whose shell is killed leaves neither a subscription nor a folder`(shell: String, signal: String) throws
  {
    let line =
      Self.subscribed + #"""

        authbroker_watch >"$d/events" &
        read -r line <"$d/events"
        kill -\#(signal) $!
        read -r word <"$d/gone"
        printf '%s\n' "$line" "$word" "$(ls "$TMPDIR")"
        """#
    #expect(try Self.run(shell, line, "").output == "{\"sequence\":1}\ngone\n\n")
  }

  @Test(arguments: shells)
  func `a watch ends after the events that were wanted`(shell: String) throws {
    let line =
      Self.subscribed + "\nauthbroker_watch --count 1; echo $?; flood=1; authbroker_watch | head -n 1; ls \"$TMPDIR\""
    let output = try Self.run(shell, line, "").output
    #expect(output == "{\"sequence\":1}\n0\n{\"sequence\":1}\n")
  }

  @Test(arguments: shells)
  func `a watch of a broker that does not answer ends as the program says`(shell: String) throws {
    let line = #"""
      d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; mkdir "$d/tmp"; export d TMPDIR="$d/tmp"
      printf '%s\n' '#!/bin/sh' '[ "$1" = connect ] && { echo asked >"$d/asked"; exit; }; cat >/dev/null' \
        'echo "{\"error\":{\"code\":8,\"message\":\"the broker did not answer in time\",\"data\":{}}}"' >"$d/call"
      chmod 700 "$d/call"; export AUTHBROKER_COMMAND="$d/call"
      authbroker_watch 2>&1; echo $?; ls "$d" "$TMPDIR" | tr '\n' ' '
      """#
    let output = try Self.run(shell, line, "").output
    #expect(output.hasPrefix("authbroker.sh: the broker did not answer in time\n8\n"), "\(output)")
    #expect(!output.contains("asked"))
  }

  @Test(arguments: shells)
  func `a watch begins at the broker that follows one which is about to end`(shell: String) throws {
    // The program is another one each time, so that it counts in a file.
    let line = #"""
      d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; mkdir "$d/tmp"; export d TMPDIR="$d/tmp"
      printf '%s\n' '#!/bin/sh' '[ "$1" = connect ] || { cat >/dev/null; echo "{}"; exit; }' 'read -r request' 'echo asked >>"$d/asked"' \
        'if [ "$(grep -c asked "$d/asked")" -lt 3 ]; then' \
        '  echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1084,\"message\":\"No.\",\"data\":{}}}"; read -r more; exit; fi' \
        'echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"' \
        'echo "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"sequence\":1}}"; read -r more' >"$d/connect"
      chmod 700 "$d/connect"; export AUTHBROKER_COMMAND="$d/connect"
      sleep() { :; }
      authbroker_watch --count 1 2>&1; echo $?; grep -c asked "$d/asked"; ls "$TMPDIR"
      """#
    #expect(try Self.run(shell, line, "").output == "{\"sequence\":1}\n0\n3\n")
  }
}
