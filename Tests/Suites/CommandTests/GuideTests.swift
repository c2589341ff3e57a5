import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Sentences and lines of the guides that people act by.
@Suite(.standardTimeLimit) struct GuideTests {
  private static let guides = "Sources/Command/authbroker/AuthBroker.docc/Guides"

  private func text(_ name: String) throws -> String { String(decoding: try Repository.bytes(name), as: UTF8.self) }

  private func guide(_ name: String) throws -> String { try text("\(Self.guides)/\(name).md") }

  @Test func `a container is given the folder of a socket, which outlives the socket`() throws {
    let names = try TemporaryDirectory.names(in: Repository.root + "/" + Self.guides).filter { $0.hasSuffix(".md") }
    #expect(names.contains("Services.md") && names.contains("Cookbook.md"))
    let mounts = ["-v ", "--volume", "--mount", "--bind", "--ro-bind", "BindPaths", "volumes:"]
    var folders = 0
    for name in names.map({ "\(Self.guides)/\($0)" }) + ["README.md"] {
      for line in try text(name).split(separator: "\n") where mounts.contains(where: line.contains) {
        #expect(
          !line.contains("broker.sock") && !line.contains("\"$socket:") && !line.contains("${socket}:"), "\(line)")
        folders += line.contains("${socket%/*}/sockets/") ? 1 : 0
      }
    }
    #expect(folders > 0)
    #expect(try guide("Services").contains("The folder and not the socket"))
  }

  @Test func `the first page begins with what takes a minute, and has every address that it speaks of`() throws {
    let page = try text("README.md")
    let order = [
      "apt-get install ./authbroker_", "authbroker demo", "https://www.swift.org/install/", "git clone ", "make demo",
      "make release && sudo make install",
    ]
    let places = order.map { page.firstRange(of: $0)?.lowerBound }
    #expect(!places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(order)")
    #expect(page.contains("Questions and defects: ") && page.contains("SECURITY.md#how-to-report"))
    #expect(page.contains("issues"))
  }

  @Test(arguments: ["oidc-agent", "pizauth", "gh auth", "aws-vault", "git credential-cache", "gcloud auth"])
  func `what others do better is said of each`(tool: String) throws {
    let rows = try text("README.md").split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains(tool) }
    let cells = try #require(rows.first).split(separator: "|").map { $0.drop { $0 == " " } }
    #expect(
      rows.count == 1 && cells.count == 4 && cells.allSatisfy { $0.count > 6 }, "\(rows)")
  }

  /// The first three digits of each number of a table's row.
  private func numbers(_ row: Substring) -> [String] {
    row.replacing(",", with: "").split { !($0.isNumber || $0 == ".") }.compactMap { word in
      guard let value = Double(word), value > 0 else { return nil }
      var digits = value
      while digits < 100 { digits *= 10 }
      while digits >= 1000 { digits /= 10 }
      return String(Int(digits.rounded()))
    }
  }

  @Test func `the figures of the first page are those of the page of figures`() throws {
    let page = try text("README.md")
    let own = try #require(page.firstRange(of: "## Figures")).upperBound
    let all = Set(try guide("Figures").split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap(numbers))
    let rows = page[own...].split(separator: "\n").filter {
      $0.hasPrefix("| ") && $0.contains("µs") || $0.contains(" /s |")
    }
    #expect(rows.count >= 3)
    for row in rows {
      let cells = row.split(separator: "|").dropFirst().joined(separator: "|")
      #expect(numbers(Substring(cells)).allSatisfy(all.contains), "\(row)")
    }
    #expect(page[own...].contains("The floor is a C server"))
  }

  @Test func `a guide names an option where a command asks nothing`() throws {
    #expect(RegisterCommand.about.options.contains { $0.name == "--phone" })
    #expect(try guide("EmbeddedProvider").contains("asks for address and password; --phone NUMBER adds"))
    #expect(try guide("Cookbook").contains("functions for tokens, logins and events on top of the command"))
    #expect(try guide("MoreHelpers").contains("The go command and pip from 26 on keep it to themselves"))
  }
}
