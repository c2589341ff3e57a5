import LinuxSystem
import TestSupport
import Testing

/// `.ci/version`: the number stands in one file, and the commit that writes it there is its release.
@Suite(.standardTimeLimit) struct VersionTests {
  /// A repository with the two files that count, and how a script says what the version is; no commit keeps its name.
  private static let repository = """
    set -eu
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
    commit() { git add -A && git -c user.name=ann -c user.email=ann@example.com commit -q -m "$1"; }
    number() { sed -i 's/number = ".*"/number = "'"$1"'"/' Sources/Base/StateDirectory/ProgramVersion.swift; }
    say() { echo "$(.ci/version) $(.ci/version --build)" | sed -E 's/\\+[0-9a-f]{12}/+COMMIT/'; }
    mkdir -p repository/Sources/Base/StateDirectory repository/.ci
    for file in .ci/version Sources/Base/StateDirectory/ProgramVersion.swift; do cp "$0/$file" "repository/$file"; done
    cp "$0/.gitattributes" repository/ && cd repository && git init -q .
    number 1.4.0-dev && commit "on the way" && say
    number 1.4.0
    """

  private func said(_ script: String) throws -> [String] {
    let scratch = Scratch()
    let output = try FileDescriptor.open(scratch.file("said"), [.readWrite, .create])
    var plan = ChildProcess.Plan(
      path: "/bin/sh", arguments: ["-c", Self.repository + "\n" + script, Repository.root],
      environment: ["PATH": "/usr/bin:/bin", "HOME": scratch.path])
    plan.workingDirectory = scratch.path
    plan.descriptors = [(output.number, 1), (output.number, 2)]
    let code = try ChildProcess(plan).wait()
    let said = String(decoding: try scratch.bytes(of: "said"), as: UTF8.self)
    #expect(code == 0, "\(said)")
    return said.split(separator: "\n").map(String.init)
  }

  @Test func `a release is the commit that writes the number, as it was committed`() throws {
    let lines = try said(
      """
      say; commit release; say
      echo >>.gitattributes; say; commit later; say; .ci/version --number
      """)
    #expect(
      lines == [
        "1.4.0-dev 1.4.0-dev+COMMIT", "1.4.1-dev 1.4.1-dev+COMMIT.dirty", "1.4.0 1.4.0+COMMIT",
        "1.4.1-dev 1.4.1-dev+COMMIT.dirty", "1.4.1-dev 1.4.1-dev+COMMIT", "1.4.0",
      ])
  }

  @Test func `a later commit with its tag is the release, also in a shallow clone`() throws {
    let lines = try said(
      """
      commit release; echo >>.gitattributes; commit later; git clone -q --depth 1 "file://$PWD" ../shallow
      git tag v1.4; say; git tag v1.4.0; say; git clone -q --depth 1 "file://$PWD" ../tagged
      cd ../shallow; say; cd ../tagged; say
      """)
    #expect(
      lines == [
        "1.4.0-dev 1.4.0-dev+COMMIT", "1.4.1-dev 1.4.1-dev+COMMIT", "1.4.0 1.4.0+COMMIT", "1.4.1-dev 1.4.1-dev+COMMIT",
        "1.4.0 1.4.0+COMMIT",
      ])
  }

  @Test func `a source archive knows its version without git`() throws {
    let lines = try said(
      """
      unpacked() { mkdir -p "../$1" && tar -xf - -C "../$1" && (cd "../$1" && say); }
      commit release
      git archive HEAD | unpacked commit
      git archive --add-virtual-file=.ci/built-version:"$(.ci/version --build)" HEAD | unpacked release
      git tag v1.4.0-rc; git tag v1.4.0; git archive v1.4.0 | unpacked tag
      rm -rf .git; say
      """)
    #expect(
      lines == [
        "1.4.0-dev 1.4.0-dev+COMMIT", "1.4.1-dev 1.4.1-dev+COMMIT", "1.4.0 1.4.0+COMMIT", "1.4.0 1.4.0+COMMIT",
        "1.4.0 1.4.0+dev",
      ])
  }
}
