import LinuxSystem
import TestSupport
import Testing

/// `make install` and `make uninstall`: they build nothing, and leave nothing behind.
@Suite(.standardTimeLimit) struct InstallTests {
  private let scratch = Scratch()
  /// The names of the helpers beside the program.
  private static let links = [
    "bazel-credential-authbroker", "cargo-credential-authbroker", "docker-credential-authbroker",
    "git-credential-authbroker", "terraform-credentials-authbroker",
  ]

  /// Runs a program to its end; what it says on standard output and standard error.
  private func run(_ path: String, _ arguments: [String]) throws -> (code: Int32, output: String, errors: String) {
    var plan = ChildProcess.Plan(
      path: path, arguments: arguments,
      environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": scratch.path, "TMPDIR": scratch.path])
    let null = try FileDescriptor.open("/dev/null", .readWrite)
    let output = try FileDescriptor.open(scratch.file("output"), [.write, .create, .truncate])
    let errors = try FileDescriptor.open(scratch.file("errors"), [.write, .create, .truncate])
    plan.descriptors = [(null.number, 0), (output.number, 1), (errors.number, 2)]
    let code = try ChildProcess(plan).wait()
    let said = try ["output", "errors"].map { String(decoding: try scratch.bytes(of: $0), as: UTF8.self) }
    return (code, said[0], said[1])
  }

  /// Runs make in the repository, where no compiler is to be found.
  private func make(_ target: String, from programs: String) throws -> (code: Int32, output: String, errors: String) {
    let settings = ["BIN=" + programs, "DESTDIR=" + scratch.file("root"), "PREFIX=/usr"]
    return try run("/usr/bin/make", ["-s", "-C", Repository.root, target] + settings)
  }

  /// The paths below the prefix, or a folder there, each with its permissions.
  private func entries(below folder: String = "") -> [String] {
    scratch.names(in: "root/usr/" + folder).flatMap { name -> [String] in
      let path = folder.isEmpty ? name : folder + "/" + name
      let mode = String(scratch.mode("root/usr/" + path) ?? 0, radix: 8)
      return ["\(mode) \(path)"] + entries(below: path)
    }
  }

  /// What is to be installed below `root/usr`, without folders.
  private func expected() -> Set<String> {
    var files: Set = [
      "755 bin/authbroker", "755 bin/authbrokerd", "644 lib/systemd/system/authbroker@.service",
      "644 lib/systemd/system/authbroker@.socket", "644 lib/systemd/system/authbroker-lock@.service",
      "644 lib/systemd/user/authbroker.service",
      "644 lib/systemd/user/authbroker.socket", "755 share/authbroker/authbroker.sh", "644 share/authbroker/installed",
      "644 share/doc/authbroker/CHANGELOG.md", "644 share/doc/authbroker/LICENSE",
      "644 share/doc/authbroker/CONTRIBUTING.md", "644 share/doc/authbroker/Mapping.md",
      "644 share/doc/authbroker/README.md", "644 share/doc/authbroker/SECURITY.md",
      "644 share/man/man1/authbroker.1", "644 share/man/man5/authbroker.5", "644 share/man/man8/authbrokerd.8",
    ]
    // The permissions of a symbolic link (symlink(7)).
    files.formUnion(Self.links.map { "777 bin/" + $0 })
    files.formUnion(sources("Schemas").map { "644 share/authbroker/schemas/" + $0 })
    let guides = sources("Sources/Command/authbroker/AuthBroker.docc").filter {
      $0.hasSuffix(".md") || $0.hasSuffix(".svg")
    }
    files.formUnion(guides.map { "644 share/doc/authbroker/" + $0 })
    let completions = [
      "bash-completion/completions/authbroker", "zsh/site-functions/_authbroker",
      "fish/vendor_completions.d/authbroker.fish",
    ]
    files.formUnion(completions.map { "644 share/" + $0 })
    return files
  }

  /// The files of the repository below a folder, by their paths there; none where it is missing.
  private func sources(_ folder: String) -> [String] {
    let root = Repository.root + "/" + folder
    return Directory.files(below: root).map { String($0.dropFirst(root.utf8.count + 1)) }
  }

  @Test func `without programs it says how to build them, and installs nothing`() throws {
    let run = try make("install", from: scratch.file("nothing"))
    #expect(run.code != 0 && run.errors.contains("make release"), "\(run.errors)")
    #expect(!scratch.names.contains("root"))
  }

  @Test func `every file is installed with its mode, the programs run, and all of it is removed again`() throws {
    let first = try make("install", from: BuiltPrograms.directory)
    #expect(first.code == 0 && first.errors.isEmpty, "\(first.errors)")
    for folder in ["bin", "share/man", "share/doc/authbroker", "lib/systemd/user"] {
      #expect(first.output.contains(" /usr/\(folder)"), "\(first.output)")
    }
    let found = entries()
    let isPackage = { (entry: String) in
      ["authbroker/clients/", "emacs/", "nvim/"].contains { entry.contains(" share/" + $0) }
    }
    let files = found.filter {
      (try? FileStatus.ofLink(scratch.file("root/usr/" + $0.dropFirst(4))).kind).map { $0 != .directory } ?? false
    }
    #expect(Set(files.filter { !isPackage($0) }) == expected())
    for name in ["python", "node", "go", "swift", "emacs", "neovim"] where !sources("clients/\(name)").isEmpty {
      #expect(files.contains { $0.contains(" share/authbroker/clients/\(name)/") }, "\(name)")
    }
    let pages = ["go", "emacs", "neovim"].map { "authbroker/clients/\($0)/README.md" }
    for page in pages + ["doc/authbroker/Guides/Cookbook.md"] {
      // What a page tells to use is a folder of the installation.
      let text = String(decoding: try scratch.bytes(of: "root/usr/share/\(page)"), as: UTF8.self)
      for place in text.split(separator: "/usr/local/").dropFirst().map({ $0.prefix { !"'\"\n )`".contains($0) } }) {
        let kind = (try? FileStatus.following(scratch.file("root/usr/\(place)")))?.kind
        #expect(kind == .directory, "\(page): \(place)")
      }
    }
    #expect(!files.contains { $0.contains("__pycache__") || $0.contains("node_modules") })
    let folders = Set(found).subtracting(files)
    #expect(folders.allSatisfy { $0.hasPrefix("755 ") }, "\(folders)")

    let version = try run(scratch.file("root/usr/bin/authbroker"), ["version"])
    #expect(version.code == 0 && version.output.hasPrefix("authbroker "), "\(version.errors)")
    for link in Self.links {
      #expect(SymbolicLink.target(of: scratch.file("root/usr/bin/" + link)) == "authbroker", "\(link)")
      let help = try run(scratch.file("root/usr/bin/" + link), ["--help"])
      let tool = link.prefix { $0 != "-" }
      // Two helpers take every word as the tool's own.
      #expect(help.output.contains("authbroker helper \(tool)") || help.errors.contains("helper \(tool)"), "\(link)")
    }
    let daemon = try run(scratch.file("root/usr/bin/authbrokerd"), ["--check-config"])
    #expect(daemon.code == 0 && daemon.output.contains("ok: "), "\(daemon.errors)")
    let page = String(decoding: try scratch.bytes(of: "root/usr/share/man/man1/authbroker.1"), as: UTF8.self)
    // The commit of the build stands behind the number (semver.org), and in no page.
    let number = version.output.split(separator: " ").last?.prefix { !$0.isNewline && $0 != "+" } ?? ""
    #expect(page.contains(".Os \"AuthBroker \(number)\"\n"))
    let unit = String(decoding: try scratch.bytes(of: "root/usr/lib/systemd/user/authbroker.service"), as: UTF8.self)
    #expect(unit.contains("ExecStart=/usr/bin/authbrokerd\n"))

    // A second install changes nothing, and is removed as completely.
    #expect(try make("install", from: BuiltPrograms.directory).code == 0)
    #expect(entries() == found)
    let removal = try make("uninstall", from: BuiltPrograms.directory)
    #expect(removal.code == 0 && removal.errors.isEmpty, "\(removal.errors)")
    #expect(!scratch.names.contains("root"), "\(entries())")
  }

  @Test func `every link of an installed page leads to something that is installed`() throws {
    #expect(try make("install", from: BuiltPrograms.directory).code == 0)
    let pages = Directory.files(below: scratch.file("root/usr/share")).filter { $0.hasSuffix(".md") }
    var dead: [String] = []
    var count = 0
    for page in pages {
      for link in Self.links(of: String(decoding: try Directory.bytes(of: page), as: UTF8.self)) {
        count += 1
        let path = PathName.directory(of: page) + "/" + link
        if (try? FileStatus.following(path)) == nil { dead.append("\(page): \(link)") }
      }
    }
    #expect(count > 100 && dead.isEmpty, "\(dead)")
  }

  /// The files that a page links to: no address, no place on the page itself, nothing in a block of code.
  private static func links(of page: String) -> [Substring] {
    var isCode = false
    return page.split(separator: "\n").flatMap { line -> [Substring] in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode else { return [] }
      return line.split(separator: "](", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
        let link = rest.prefix { $0 != ")" && $0 != "#" }
        return link.isEmpty || link.contains(":") || link.contains(" ") ? nil : link
      }
    }
  }

  @Test func `what others have put there stays, and a file of an earlier version goes`() throws {
    #expect(try make("install", from: BuiltPrograms.directory).code == 0)
    let list = "root/usr/share/authbroker/installed"
    try scratch.write("theirs", to: "root/usr/bin/other")
    try scratch.write("ours", to: "root/usr/bin/authbroker-old")
    let entries = String(decoding: try scratch.bytes(of: list), as: UTF8.self)
    try scratch.write(entries + "file /usr/bin/authbroker-old\n", to: list)
    #expect(try make("install", from: BuiltPrograms.directory).code == 0)
    #expect(scratch.names(in: "root/usr/bin") == (["authbroker", "authbrokerd", "other"] + Self.links).sorted())
    #expect(try make("uninstall", from: BuiltPrograms.directory).code == 0)
    #expect(scratch.names(in: "root/usr") == ["bin"] && scratch.names(in: "root/usr/bin") == ["other"])
    let again = try make("uninstall", from: BuiltPrograms.directory)
    #expect(again.code == 0 && again.errors.contains("Nothing is installed"), "\(again.errors)")
  }
}
