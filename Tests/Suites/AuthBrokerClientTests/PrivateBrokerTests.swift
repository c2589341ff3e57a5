import BrokerProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import AuthBrokerClient

@Suite(.standardTimeLimit) struct PrivateBrokerTests {
  /// Answers one request, and leaves a file behind when its input has ended.
  private static let program = """
    #!/bin/sh
    state=$2
    [ "$1 $3" = "--state --stdio" ] || exit 2
    read -r request
    printf '%s\\n' '{"jsonrpc":"2.0","id":1,"result":{}}'
    cat >/dev/null
    : >"$state/ended"

    """

  @Test func `a private broker is started, asked, and has ended when the client is closed`() async throws {
    let directory = try TemporaryDirectory(prefix: "ab-private", in: Scratch.parent)
    let path = directory.path + "/authbrokerd"
    do {
      let file = try FileDescriptor.open(path, [.write, .create])
      try file.writeAll(Array(Self.program.utf8).span)
    }
    _ = try ChildProcess(.init(path: "/bin/chmod", arguments: ["700", path], environment: [:])).wait()
    let client = try await BrokerClient.launch(PrivateBroker(state: directory.path, program: path))
    _ = try await client.call(Ping.self, .init())
    await client.close()
    #expect(try TemporaryDirectory.names(in: directory.path) == ["authbrokerd", "ended"])
    _ = consume directory
  }

  @Test func `a program that is not there is told by its path`() async {
    let broker = PrivateBroker(state: "/proc/nonexistent", program: "/proc/nonexistent/authbrokerd")
    let error = await #expect(throws: ClientError.self) { try await BrokerClient.launch(broker) }
    #expect(error?.description.contains("/proc/nonexistent/authbrokerd") == true)
  }
}
