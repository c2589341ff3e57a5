import LinuxSystem
import TestSupport
import Testing

/// `make install` and `make uninstall`: they build nothing, and leave nothing behind.
@Suite(.standardTimeLimit) struct InstallTests {
  private let scratch = Scratch()

  /// Runs make in the repository, where no compiler is to be found.
  private func make(_ target: String, _ more: [String] = []) throws -> (code: Int32, errors: String) {
    let settings = ["BIN=" + scratch.file("built"), "DESTDIR=" + scratch.file("root"), "PREFIX=/usr"]
    var plan = ChildProcess.Plan(
      path: "/usr/bin/make", arguments: ["-s", "-C", Repository.root, target] + settings + more,
      environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"])
    let null = try FileDescriptor.open("/dev/null", .readWrite)
    let errors = try FileDescriptor.open(scratch.file("errors"), [.write, .create, .truncate])
    plan.descriptors = [(null.number, 0), (null.number, 1), (errors.number, 2)]
    let code = try ChildProcess(plan).wait()
    return (code, String(decoding: try scratch.bytes(of: "errors"), as: UTF8.self))
  }

  private func putPrograms() throws {
    let null = try FileDescriptor.open("/dev/null", .readWrite)
    var plan = ChildProcess.Plan(
      path: "/bin/sh",
      arguments: ["-c", "mkdir built && cp /bin/true built/authbroker && cp /bin/true built/authbrokerd"],
      environment: ["PATH": "/usr/bin:/bin"])
    plan.workingDirectory = scratch.path
    plan.descriptors = [(null.number, 0), (null.number, 1), (null.number, 2)]
    #expect(try ChildProcess(plan).wait() == 0)
  }

  @Test func `without programs it says how to build them, and installs nothing`() throws {
    let run = try make("install")
    #expect(run.code != 0 && run.errors.contains("make release"), "\(run.errors)")
    #expect(!scratch.names.contains("root"))
  }

  @Test func `programs, page, shell client, licence and schemas are installed, and removed again`() throws {
    try putPrograms()
    let run = try make("install")
    #expect(run.code == 0, "\(run.errors)")
    #expect(scratch.names(in: "root/usr/bin") == ["authbroker", "authbrokerd"])
    #expect(scratch.names(in: "root/usr/share/man/man1") == ["authbroker.1"])
    #expect(scratch.names(in: "root/usr/share/doc/authbroker").contains("LICENSE"))
    #expect(scratch.names(in: "root/usr/share/authbroker").contains("authbroker.sh"))
    let schemas = ["config.schema.json", "conversations", "errors.json", "events.json", "openrpc.json"]
    #expect(scratch.names(in: "root/usr/share/authbroker/schemas") == schemas)
    let completions = [
      "bash-completion/completions": "authbroker", "zsh/site-functions": "_authbroker",
      "fish/vendor_completions.d": "authbroker.fish",
    ]
    for (folder, name) in completions { #expect(scratch.names(in: "root/usr/share/" + folder) == [name]) }
    #expect(try make("uninstall").code == 0)
    for folder in ["bin", "share/man/man1", "share/doc"] + completions.keys.map({ "share/" + $0 }) {
      #expect(scratch.names(in: "root/usr/" + folder).isEmpty)
    }
    #expect(!scratch.names(in: "root/usr/share").contains("authbroker"))
  }
}
