import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// The helpers as their tools run them, with a broker that is played.
@Suite(.standardTimeLimit) struct ToolHelperTests {
  private let scratch = Scratch()

  private static let token =
    #""accessToken":"made-up","tokenType":"Bearer","expiresAt":null,"scopes":[],"profile":"default""#

  /// An owner with one target, whose second token comes after a report.
  private func owner(_ target: String = "https://a.example") throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      let url = try? params?["url"]?.string()
      switch method {
      case "listTargets":
        return url?.contains("a.example") == true
          ? #""result":{"targets":[{"url":"\#(target)","profile":"default"}]}"# : #""result":{"targets":[]}"#
      case "getAccessToken":
        guard let url else { return #""result":{\#(Self.token),"tokenId":"one"}"# }
        guard url.contains("a.example") else { return FakeOwner.refusal(1088, "unknownTarget", "There is none.") }
        let prefix = target.replacing("https", with: url.prefix { $0 != ":" })
        return #""result":{\#(Self.token),"tokenId":"one","target":{"prefix":"\#(prefix)"}}"#
      default: return #""result":{\#(Self.token),"tokenId":"two"}"#
      }
    }
  }

  private static let cluster =
    #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
    + #""spec":{"cluster":{"server":"https://a.example"}}}"#

  @Test(arguments: [
    (["helper", "git", "get"], "protocol=https\nhost=a.example\n"), (["helper", "docker", "get"], "a.example"),
    (
      ["helper", "cargo", "--cargo-plugin"],
      #"{"v":1,"kind":"get","registry":{"index-url":"sparse+https://a.example/x/"}}"# + "\n"
    ),
    (["helper", "keyring", "get", "https://a.example/simple", "ann"], ""), (["helper", "kubectl"], ""),
    (["helper", "curl", "https://a.example:443/x"], ""), (["helper", "go", "https://a.example/mod"], ""),
    (["helper", "bazel", "get"], #"{"uri":"https://a.example/x"}"#), (["helper", "terraform", "get", "a.example"], ""),
    (["helper", "sasl", "imaps://a.example", "ann"], ""), (["token", "--url", "https://a.example"], ""),
    (["header", "--url", "https://a.example/"], ""),
  ])
  func `a helper makes one request on one connection`(words: [String], input: String) throws {
    let owner = try owner()
    let environment = ["KUBERNETES_EXEC_INFO": Self.cluster]
    let run = try CommandRun(words, in: scratch, input: input, environment: environment)
    #expect(run.code == 0 && !run.output.isEmpty, "\(run.output)\(run.errors)")
    #expect(owner.guests == 1 && owner.requests.count == 1, "\(owner.guests) connections: \(owner.requests)")
    #expect(owner.requests.first?.hasPrefix("getAccessToken ") == true)
  }

  @Test(arguments: ["", #","target":{"prefix":"https://b.example"}"#, #","target":{"prefix":"https://a.example/x"}"#])
  func `a token that is not said to be for the address is not used`(target: String) throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      guard method == "getAccessToken" else {
        return #""result":{"targets":[{"url":"https://a.example","profile":"work"}]}"#
      }
      guard params?["url"] != nil else { return #""result":{\#(Self.token),"tokenId":"two"}"# }
      return #""result":{"accessToken":"wrong","expiresAt":null,"profile":"default","tokenId":"one"\#(target)}"#
    }
    for words in [["helper", "curl", "https://a.example"], ["token", "--url", "https://a.example"]] {
      let run = try CommandRun(words, in: scratch)
      #expect(run.code == 0 && run.output.contains("made-up"), "\(run.output)\(run.errors)")
      #expect(owner.requests.last?.contains(#""profile":"work""#) == true, "\(owner.requests)")
    }
  }

  @Test func `git gets a token, and another one where it brings the state back`() throws {
    let owner = try owner()
    let question = "capability[]=authtype\ncapability[]=state\nprotocol=https\nhost=a.example\nwwwauth[]=Bearer\n"
    let first = try CommandRun(["helper", "git", "get"], in: scratch, input: question + "\nnot read")
    #expect(first.output.contains("state[]=authbroker:one\ncontinue=1\ncredential=made-up\n"), "\(first.errors)")
    let second = try CommandRun(["helper", "git", "get"], in: scratch, input: question + "state[]=authbroker:one\n\n")
    #expect(second.output.contains("state[]=authbroker:two\ncredential=made-up\n") && second.code == 0)
    #expect(owner.requests.contains { $0.hasPrefix("reportRejected") && $0.contains(#""tokenId":"one""#) })
  }

  @Test(arguments: [
    (
      ["cargo", "--cargo-plugin"],
      #"{"v":1,"kind":"login","operation":"login","registry":{"index-url":"sparse+https://a.example/"}}"# + "\n"
    ),
    (["docker", "erase"], "a.example"),
    (["docker", "store"], #"{"ServerURL":"a.example","Username":"ann","Secret":"typed"}"#),
  ])
  func `what a tool does where its token was refused makes the next one another`(
    words: [String], input: String
  ) throws {
    let owner = try owner()
    let run = try CommandRun(["helper"] + words, in: scratch, input: input)
    #expect(run.code == 0, "\(run.output)\(run.errors)")
    let reports = owner.requests.filter { $0.hasPrefix("reportRejected") && $0.contains(#""tokenId":"one""#) }
    #expect(reports.count == 1, "\(run.output)\(run.errors)\(owner.requests)")
    #expect(run.errors.contains("the token of the profile default for https://a.example was replaced"), "\(run.errors)")
  }

  @Test func `the token that docker was given is no password to report`() throws {
    let owner = try owner()
    let input = #"{"ServerURL":"a.example","Username":"oauth2","Secret":"made-up"}"#
    #expect(try CommandRun(["helper", "docker", "store"], in: scratch, input: input).code == 0)
    #expect(!owner.requests.contains { $0.hasPrefix("reportRejected") })
  }

  @Test func `bazel asks as often as it likes for one address, and no token is reported`() throws {
    let owner = try owner()
    for _ in 0..<3 {
      let run = try CommandRun(["helper", "bazel", "get"], in: scratch, input: #"{"uri":"https://a.example/x"}"#)
      #expect(run.code == 0 && run.output.contains("Bearer made-up"), "\(run.errors)")
    }
    #expect(owner.requests.allSatisfy { $0.hasPrefix("getAccessToken") }, "\(owner.requests)")
  }

  @Test func `a question is read in any length up to its bound, and refused beyond`() throws {
    let owner = try owner()
    func question(_ count: Int) -> String {
      let start = "protocol=https\nhost=a.example\nwwwauth[]="
      return start + String(repeating: "x", count: count - start.utf8.count - 2) + "\n\n"
    }
    for count in [1023, 1024, 1025, 4096, 60_000] {
      let run = try CommandRun(["helper", "git", "get"], in: scratch, input: question(count))
      #expect(run.code == 0 && run.output.contains("password=made-up\n"), "\(count): \(run.errors)")
    }
    let long = try CommandRun(["helper", "git", "get"], in: scratch, input: question(ToolLines.longest + 1))
    #expect(long.code == 1 && long.output.isEmpty)
    #expect(long.errors.contains("the input is longer than 1024 KiB"), "\(long.errors)")
    #expect(owner.requests.count { $0.hasPrefix("getAccessToken") } == 5)
  }

  @Test func `the blank line that ends a question is found in any pieces, and nothing is searched twice`() {
    let text = Array("a=b\nc=d\n\nrest\n\n".utf8)
    for cut in 0...text.count {
      var blank = BlankLine()
      let first = blank.end(in: Array(text[..<cut]))
      #expect(first == (cut >= 9 ? 9 : nil))
      if first == nil { #expect(blank.end(in: text) == 9) }
    }
    var blank = BlankLine()
    #expect(blank.end(in: Array("aaaa".utf8)) == nil)
    #expect(blank.end(in: Array("\n\naab".utf8)) == nil, "what was searched is not looked at again")
    var first = BlankLine()
    #expect(first.end(in: Array("\na".utf8)) == 1)
  }

  @Test(arguments: [
    ("", "https://a.example refused the token of the profile default; it was replaced: run git again"),
    (
      "state[]=authbroker:one\n",
      "https://a.example refused two tokens of the profile default in a row; its account may lack access"
    ),
  ])
  func `git's user reads that the server has refused the token`(state: String, sentence: String) throws {
    let owner = try owner()
    let question = "protocol=https\nhost=a.example\nusername=oauth2\n\(state)password=made-up\n"
    let run = try CommandRun(["helper", "git", "erase"], in: scratch, input: question)
    #expect(run.code == 0 && run.output.isEmpty && run.errors == "authbroker: \(sentence)\n", "\(run.errors)")
    #expect(owner.requests.last?.hasPrefix("reportRejected") == true)
  }

  @Test func `git's other operations print nothing, and erase reports the token`() throws {
    let owner = try owner()
    let question = "protocol=https\nhost=a.example\nusername=oauth2\npassword=refused-one\n"
    let erase = try CommandRun(["helper", "git", "erase"], in: scratch, input: question)
    #expect(erase.code == 0 && erase.output.isEmpty && erase.errors.isEmpty, "\(erase.errors)")
    #expect(owner.requests.last?.contains(#""accessToken":"refused-one""#) == true)
    let count = owner.requests.count
    for operation in ["store", "frobnicate"] {
      let run = try CommandRun(["helper", "git", operation], in: scratch, input: question)
      #expect(run.code == 0 && run.output.isEmpty && run.errors.isEmpty)
    }
    let unknown = try CommandRun(["helper", "git", "get"], in: scratch, input: "protocol=https\nhost=b.example\n")
    #expect(unknown.code == 0 && unknown.output.isEmpty && unknown.errors.isEmpty)
    let mail = try CommandRun(["helper", "git", "get"], in: scratch, input: "protocol=ssh\nhost=a.example\n")
    #expect(mail.code == 0 && mail.output.isEmpty)
    #expect(owner.requests.count == count + 1, "only the unknown server is looked up")
    let bad = try CommandRun(["helper", "git", "get"], in: scratch, input: "protocol\n")
    #expect(bad.code == 1 && bad.output.isEmpty && bad.errors.contains("KEY=VALUE"))
    let capability = try CommandRun(["helper", "git", "capability"], in: scratch)
    #expect(capability.output == "version 0\ncapability authtype\ncapability state\n")
  }

  @Test func `git is told to stop where the session has ended, and docker and cargo say so in their own way`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      guard method == "listTargets" else {
        let data = #"{"kind":"loginRequired","nextAction":"login","retryable":false}"#
        return #""error":{"code":1001,"message":"no","data":\#(data)}"#
      }
      return #""result":{"targets":[{"url":"https://a.example","profile":"work"}]}"#
    }
    let git = try CommandRun(["helper", "git", "get"], in: scratch, input: "protocol=https\nhost=a.example\n")
    #expect(git.code == 3 && git.output == "quit=1\n" && git.errors.contains("login"), "\(git.errors)")
    let docker = try CommandRun(["helper", "docker", "get"], in: scratch, input: "a.example")
    #expect(docker.code == 1 && docker.output.contains("login") && docker.errors.contains("login"), "\(docker)")
    let list = try CommandRun(["helper", "docker", "list", "unused"], in: scratch)
    #expect(list.code == 0 && list.output == "{}\n")
    let request = #"{"v":1,"kind":"get","registry":{"index-url":"sparse+https://a.example/"}}"# + "\n"
    let cargo = try CommandRun(["helper", "cargo", "--cargo-plugin"], in: scratch, input: request)
    #expect(cargo.code == 0 && cargo.output.hasPrefix("{\"v\":[1]}\n{\"Err\":{\"kind\":\"other\""), "\(cargo.output)")
    #expect(owner.requests.count >= 5)
  }

  @Test func `git gets no token of another user, and reports none of theirs`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      guard method == "listTargets" else { return #""result":{\#(Self.token),"tokenId":"one"}"# }
      return #""result":{"targets":[{"url":"https://a.example","profile":"work","username":"ann"}]}"#
    }
    let question = "protocol=https\nhost=a.example\n"
    let bob = try CommandRun(["helper", "git", "get"], in: scratch, input: question + "username=bob\n")
    #expect(bob.code == 0 && bob.output.isEmpty, "\(bob.output)")
    let erase = question + "username=bob\npassword=x\n"
    #expect(try CommandRun(["helper", "git", "erase"], in: scratch, input: erase).code == 0)
    #expect(!owner.requests.contains { $0.hasPrefix("reportRejected") })
    for username in ["", "username=ann\n"] {
      let ann = try CommandRun(["helper", "git", "get"], in: scratch, input: question + username)
      #expect(ann.output.contains("username=ann\n") && ann.output.contains("password=made-up"), "\(ann.output)")
    }
  }

  @Test func `a tool without targets is not said to be installed, though its link is on the PATH`() throws {
    try withExtendedLifetime(owner()) {
      let directory = scratch.file("bin")
      try #require(mkdir(directory, 0o700) == 0)
      let path = "\(directory):/usr/bin:/bin"
      symlink(CommandRun.program, directory + "/git-credential-authbroker")
      let list = try CommandRun(["helper", "list", "git"], in: scratch, environment: ["PATH": path])
      #expect(list.words.contains("git no targets -"), "\(list.output)\(list.errors)")
    }
  }

  @Test func `git is told to stop where no broker answers`() throws {
    let git = try CommandRun(
      ["helper", "git", "get"], in: scratch, input: "protocol=https\nhost=a.example\n",
      environment: ["AUTHBROKER_SOCKET": scratch.file("none")])
    #expect(git.code == 8 && git.output == "quit=1\n", "\(git.output)\(git.errors)")
  }

  @Test func `docker gets user name and token, and its own words where there is no target`() throws {
    let owner = try owner()
    let found = try CommandRun(["helper", "docker", "get"], in: scratch, input: "a.example\n")
    #expect(
      found.output == #"{"ServerURL":"a.example","Username":"oauth2","Secret":"made-up"}"# + "\n", "\(found.errors)")
    let none = try CommandRun(["helper", "docker", "get"], in: scratch, input: "b.example")
    #expect(none.code == 1 && none.output == "credentials not found in native keychain\n" && none.errors.isEmpty)
    let empty = try CommandRun(["helper", "docker", "get"], in: scratch)
    #expect(empty.code == 1 && empty.output == "no credentials server URL\n" && empty.errors.isEmpty)
    let store = try CommandRun(
      ["helper", "docker", "store"], in: scratch, input: #"{"ServerURL":"a.example","Username":"x","Secret":"y"}"#)
    #expect(store.code == 0 && store.output.isEmpty)
    for input in ["", "{}", "[", #"{"ServerURL":"b.example"}"#] {
      #expect(try CommandRun(["helper", "docker", "store"], in: scratch, input: input).code == 1)
    }
    #expect(try CommandRun(["helper", "docker", "erase"], in: scratch, input: "a.example").code == 0)
    #expect(try CommandRun(["helper", "docker", "frobnicate"], in: scratch).output.contains("unknown operation"))
    #expect(!owner.requests.contains { $0.contains("logout") })
  }

  @Test func `kubectl's second question from one process means that the token was refused`() throws {
    let owner = try owner()
    let spec = #""spec":{"cluster":{"server":"https://a.example"}}"#
    let question = #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",\#(spec)}"#
    let environment = ["KUBERNETES_EXEC_INFO": question]
    let count = { owner.requests.count { $0.hasPrefix("reportRejected") } }
    for reports in [0, 1, 1] {
      let run = try CommandRun(["helper", "kubectl"], in: scratch, environment: environment)
      #expect(run.output.contains(#""status":{"token":"made-up"}"#) && count() == reports, "\(run.errors)")
    }
    let byHand = try CommandRun(["helper", "kubectl"], in: scratch)
    #expect(byHand.code == 2 && byHand.output.isEmpty && byHand.errors.contains("provideClusterInfo"))
  }

  @Test func `an address that is not a configured target is one failure, whoever asks`() throws {
    let owner = try owner()
    let cluster = #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
    let question = cluster + #""spec":{"cluster":{"server":"https://b.example"}}}"#
    let calls: [[String]] = [
      ["token", "--url", "https://b.example"], ["helper", "curl", "https://b.example"],
      ["helper", "sasl", "imaps://b.example", "ann"], ["helper", "kubectl"],
      ["helper", "list", "--url", "imaps://b.example"],
    ]
    for words in calls {
      let run = try CommandRun(words, in: scratch, environment: ["KUBERNETES_EXEC_INFO": question])
      let expected = "b.example is not a configured target; name a profile with --profile; or add it with: authbroker "
      #expect(run.code == 1 && run.output.isEmpty && run.errors.contains(expected), "\(words): \(run.errors)")
      #expect(run.errors.contains(" target add "), "\(words): \(run.errors)")
    }
    #expect(owner.requests.allSatisfy { $0.hasPrefix("listTargets") || $0.contains(#""url""#) })
  }
}
