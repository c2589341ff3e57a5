import LinuxSystem
import PostgreSQL
import TestSupport
import Testing

/// Connections to databases that do not answer, and their end.
@Suite(.standardTimeLimit, .enabled(if: DatabaseCluster.programs != nil, "\(DatabaseCluster.absence)"))
struct DatabaseEndTests {
  @Test func `the end does not wait for a server that does not answer`() async throws {
    let server = try LoopbackSocket.listen(on: .ipv4, port: 0)
    let database = PostgreSQL(
      PostgreSQLSettings(connection: "host=127.0.0.1 port=\(server.port) dbname=a user=a"), patience: Patience.ceiling
    ) { .success(nil) }
    let question = Task { (try? await database.run("SELECT 1")) != nil }
    let number = server.descriptor.number
    let hasCome = try await OwnThread.run {
      var poll = PollSet(count: 1)
      poll.watch(0, number, readable: true)
      return try poll.wait(atMost: Patience.ceiling) > 0
    }
    #expect(hasCome)
    await database.close()
    server.stop()
    #expect(await question.value == false)
    await database.close()
    await #expect(throws: PostgreSQLError.self) { try await database.run("SELECT 1") }
  }

  @Test func `a server that says nothing does not stand for the one behind it`() async throws {
    let silent = try LoopbackSocket.listen(on: .ipv4, port: 0)
    let cluster = try DatabaseCluster()
    let connection = cluster.connection.replacing(#/host=(\S+)/#) {
      "host=127.0.0.1,\($0.output.1) port=\(silent.port),5432"
    }
    let database = PostgreSQL(PostgreSQLSettings(connection: connection)) { .success(nil) }
    #expect(try await database.run("SELECT 1::bigint").first?.first?.number == 1)
    await database.close()
    silent.stop()
  }
}
