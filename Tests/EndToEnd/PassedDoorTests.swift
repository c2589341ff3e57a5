import JSON
import LinuxSystem
import TestSupport
import Testing

/// Doors on sockets that another program passes with its request (unix(7), SCM_RIGHTS).
@Suite(.standardTimeLimit) struct PassedDoorTests {
  /// A client: `ask` calls a method with descriptors, `get` asks a door, and `held` counts the descriptors of the broker, as far as
  /// this user may.
  private static let client = #"""
    import json, os, socket, sys, time
    path, broker = sys.argv[1:3]
    def connect():
        client = socket.socket(socket.AF_UNIX); client.settimeout(60); client.connect(path); return client
    def line(client):
        text = b""
        while not text.endswith(b"\n"):
            more = client.recv(65536)
            if not more: raise EOFError
            text += more
        return json.loads(text)
    def request(method, params): return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"
    def ask(client, descriptors, method="openDoor", **params):
        socket.send_fds(client, [request(method, {"profile": "shop", **params})], descriptors); return line(client)
    def open_door(client, descriptors, **params): return ask(client, descriptors, descriptor=True, **params)
    def pointer(answer): return answer["error"]["data"].get("pointer")
    def get(client, host, slot=""):
        client.settimeout(60)
        client.sendall(f"GET /service/bytes/3 HTTP/1.1\r\nHost: {host}\r\n{slot}Connection: close\r\n\r\n".encode())
        answer = b""
        while more := client.recv(65536): answer += more
        return int(answer.split()[1])
    def unix(name=None):
        listener = socket.socket(socket.AF_UNIX); listener.bind(name or ""); listener.listen(); return listener
    def port(address="127.0.0.1", family=socket.AF_INET):
        listener = socket.socket(family); listener.bind((address, 0)); listener.listen(); return listener
    def held():
        try: return len(os.listdir(f"/proc/{broker}/fd"))
        except PermissionError: return 0
    def settles(most):
        end = time.monotonic() + 60
        while held() > most and time.monotonic() < end: time.sleep(0.02)
        return held() <= most
    """#

  @Test func `a socket that is passed is the door, and stays its owner's`() async throws {
    let script = #"""
      client, listener = connect(), unix("own.sock")
      door = open_door(client, [listener.fileno()])["result"]
      assert door["url"].startswith("unix:") and door["url"].endswith("own.sock"), door
      def at(name):
          peer = socket.socket(socket.AF_UNIX); peer.connect(name); return peer
      assert get(at("own.sock"), "any") == 200
      assert get(at("own.sock"), "any", "Authorization: Bearer wrong\r\n") == 403
      listed = ask(client, [], "listDoors")["result"]["doors"]
      assert [entry["url"] for entry in listed] == [door["url"]] and listed[0]["forwarded"] == 1, listed
      assert "result" in ask(client, [], "closeDoor", doorId=door["doorId"])
      # Another door on the same socket, behind other requests of the connection.
      assert "result" in open_door(client, [listener.fileno()])
      assert get(at("own.sock"), "any") == 200
      client.close()
      # The broker has let it go: a connection is its owner's to take.
      left = connect()
      end = time.monotonic() + 60
      while ask(left, [], "listDoors")["result"]["doors"] and time.monotonic() < end: time.sleep(0.02)
      waiting = at("own.sock"); listener.setblocking(True); listener.settimeout(60); listener.accept(); print("good")
      """#
    try await run(script)
  }

  @Test func `at a port that is passed, the placeholder and the user are asked for`() async throws {
    let script = #"""
      for listener in (port(), port("::1", socket.AF_INET6)):
          client, address = connect(), listener.getsockname()
          door = open_door(client, [listener.fileno()])["result"]
          number = address[1]
          assert door["url"] == f"http://127.0.0.1:{number}", door
          def at(): return socket.create_connection(address[:2], 60)
          assert get(at(), f"127.0.0.1:{number}") == 403
          slot = f"Authorization: Bearer {door['placeholder']}\r\n"
          assert get(at(), "evil.test", slot) == 403
          assert get(at(), f"localhost:{number}", slot) == 200
      print("good")
      """#
    try await run(script)
  }

  @Test func `what is no socket of this machine that listens is refused, and closed`() async throws {
    let script = #"""
      connect_first = connect(); ask(connect_first, [], "ping"); before = held()
      client = connect()
      silent, datagram = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      reader, writer = os.pipe()
      wrong = [silent.fileno(), datagram.fileno(), reader, os.open("/dev/null", os.O_RDONLY), client.fileno()]
      keep = [port("0.0.0.0"), port("::", socket.AF_INET6)]
      for number in wrong + [one.fileno() for one in keep]:
          assert pointer(open_door(client, [number])) == "/descriptor", number
      listener = unix("good.sock")
      two = [listener.fileno(), listener.fileno()]
      assert pointer(open_door(client, [])) == "/descriptor"
      assert pointer(open_door(client, two)) == "/descriptor"
      assert pointer(open_door(client, two * 60)) == "/descriptor"
      assert pointer(open_door(client, [listener.fileno()], port=0)) == "/descriptor"
      # One that came with another request is not kept for the next one.
      assert "result" in ask(client, [listener.fileno()], "ping")
      assert pointer(open_door(client, [])) == "/descriptor"
      # Two requests in the bytes of one: which of them it is for is not known.
      socket.send_fds(client, [request("ping", {})[:-1]], [listener.fileno()]); socket.send_fds(client, [b"\n"], [listener.fileno()])
      assert "result" in line(client)
      # Behind a token, whose answer costs no look for descriptors, it is asked for once more.
      assert "result" in ask(client, [], "getAccessToken")
      again = open_door(client, [listener.fileno()])
      if "error" in again: assert pointer(again) == "/descriptor"; again = open_door(client, [listener.fileno()])
      assert "result" in ask(client, [], "closeDoor", doorId=again["result"]["doorId"])
      client.close()
      assert settles(before + 1), (before, held())
      print("good")
      """#
    try await run(script)
  }

  @Test func `a flood of descriptors takes few of the broker's`() async throws {
    let script = #"""
      first = connect(); ask(first, [], "ping"); before = held()
      listener, clients = unix("good.sock"), []
      for _ in range(100):
          client = connect(); clients.append(client)
          # The beginning of a message, which may wait for its end.
          socket.send_fds(client, [b'{"jsonrpc":"2.0",'], [listener.fileno()])
          for _ in range(20): socket.send_fds(client, [b" "], [listener.fileno()] * 10)
      assert "result" in ask(first, [], "ping")
      assert held() <= before + len(clients) + 16, (before, held())
      for client in clients: client.close()
      assert settles(before + 1), (before, held())
      assert "result" in open_door(first, [listener.fileno()])
      print("good")
      """#
    try await run(script)
  }

  @Test func `a relay passes none, and a limited socket takes none`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      try stage.wire.prove()
      let limited = try stage.wire.call(
        "openSocket", #"{"profiles":["shop"],"lifetimeSeconds":600,"may":"use"}"#)
      #expect(
        try SocketWire(limited.required("path").string()).refusal("openDoor", #"{"profile":"shop","descriptor":true}"#)
          == "invalidParams")
      let relayed = try sandbox.command(
        "connect",
        input: #"{"jsonrpc":"2.0","id":1,"method":"openDoor","params":{"profile":"shop","descriptor":true}}"# + "\n")
      #expect(
        relayed.output.contains(#""pointer":"/descriptor""#) && relayed.output.contains("a relay passes none"),
        "\(relayed)")
    }
  }

  /// Runs a script of the client's beside a broker.
  private func run(_ script: String) async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      _ = try stage.wire.call("closeDoor", #"{"doorId":"\#(stage.id)"}"#)
      let pid = try stage.wire.call("getStatus").required("pid").integer()
      let search = Environment.current["PATH"] ?? "/usr/bin:/bin"
      let done = try sandbox.run(
        "/usr/bin/env", ["python3", "-c", Self.client + "\n" + script, sandbox.socket, String(pid)],
        environment: ["PATH": search])
      #expect(done.code == 0 && done.output == "good\n", "\(done)")
    }
  }
}
