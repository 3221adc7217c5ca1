import { afterEach, expect, it } from 'vitest'
import { HostBusy, HostConnections, loadPostgres } from '../../../../src/ledger/engine/postgres-host.js'
import { PostgresEngine } from '../../../../src/ledger/engine/postgres-engine.js'
import { MutePostgres } from '../../../support/fakes/mute-postgres.js'

const closing: { close(): unknown }[] = []

/** An engine over a server that does not answer some statements. */
async function engineOver(mute: RegExp): Promise<readonly [MutePostgres, PostgresEngine]> {
  const server = await MutePostgres.create(mute)
  const engine = await PostgresEngine.open([server.url])
  closing.push(engine, server)
  return [server, engine]
}

afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

const looks = ({ statements }: MutePostgres) => statements.filter((text) => text.includes('json_build_object')).length

it('looks at the position continue while the server does not answer LISTEN', async () => {
  const [server, engine] = await engineOver(/^LISTEN/)
  const end = engine.watch(0, () => {})
  await expect.poll(() => server.statements, { timeout: 3000 }).toContain('LISTEN didledger')
  const before = looks(server)
  await expect.poll(() => looks(server), { timeout: 3000 }).toBeGreaterThan(before + 2)
  expect(server.statements.filter((text) => text.startsWith('LISTEN'))).toHaveLength(1)
  end()
})

it(
  'a connection on which LISTEN was not answered is given up, and another one tried',
  { timeout: 20_000 },
  async () => {
    const [server, engine] = await engineOver(/^LISTEN/)
    const end = engine.watch(0, () => {})
    const listens = () => server.statements.filter((text) => text.startsWith('LISTEN')).length
    await expect.poll(listens, { timeout: 15_000 }).toBe(2)
    expect(server.connections).toBeLessThan(4)
    end()
  },
)

it('a connection needs no answer to a statement before it is used', async () => {
  const [server, engine] = await engineOver(/^SET/)
  expect(await engine.state(0)).toBeUndefined()
  expect(server.statements.filter((text) => text.startsWith('SET'))).toEqual([])
})

it('a server that lets in few connections answers on those, one question after another', async () => {
  const [server, engine] = await engineOver(/never/)
  server.most = 3
  // One connection is for states.
  expect(await engine.state(0)).toBeUndefined()
  const sweep = () => engine.sweep(0, Buffer.alloc(0), { epoch: 1, number: 0, shards: 1 })
  const all = await Promise.all(Array.from({ length: 20 }, sweep))
  expect(all).toHaveLength(20)
  expect(server.statements.filter((text) => text === 'BEGIN')).toHaveLength(20)
  server.most = 0
  await engine.close()
  const other = await PostgresEngine.open([server.url])
  closing.push(other)
  await expect(other.state(0)).rejects.toThrow('too many connections')
})

it('the state is told while all connections for rows wait for an answer', { timeout: 20_000 }, async () => {
  const [server, engine] = await engineOver(/^BEGIN/)
  expect(await engine.state(0)).toBeUndefined()
  const at = { stream: '', sequence: 1, digest: Buffer.alloc(32), height: 1, hash: Buffer.alloc(32), time: 1 }
  const step = { epoch: 1, from: at, to: { ...at, number: 0, shards: 1 }, puts: [], dels: [] }
  const steps = Array.from({ length: 9 }, () => engine.apply(0, step).catch((error: unknown) => error))
  // The last one waits for a connection.
  expect(await Promise.race(steps)).toBeInstanceOf(HostBusy)
  const before = server.statements.length
  expect(await engine.state(0)).toBeUndefined()
  // The server that takes writes is not looked for again.
  expect(server.statements.slice(before)).toHaveLength(1)
  await engine.close()
  await Promise.all(steps)
})

it('a host is not down because all of its connections are busy', { timeout: 20_000 }, async () => {
  const server = await MutePostgres.create(/^SLEEP/)
  const host = new HostConnections(await loadPostgres(), 0, { url: server.url, name: 'a host' })
  closing.push(host, server)
  const sleep = () => host.run((client) => client.query('SLEEP'), 60_000).catch((error: unknown) => error)
  const asleep = Array.from({ length: 9 }, sleep)
  expect(await Promise.race(asleep)).toMatchObject({ message: 'shard 0: a host: all 8 connections are busy' })
  expect(host.mayAsk()).toBe(true)
  await host.close()
  await Promise.all(asleep)
})

it('a filling does not begin at a server that is silent', { timeout: 20_000 }, async () => {
  const [server, engine] = await engineOver(/^SET/)
  await expect(engine.load(0)).rejects.toThrow('no answer within 10 s')
  await expect.poll(() => server.connections).toBeLessThan(2)
})

it(
  'a host that does not answer is asked by one after each rest, which becomes longer',
  { timeout: 20_000 },
  async () => {
    const server = await MutePostgres.create(/^SLEEP/)
    const host = new HostConnections(await loadPostgres(), 0, { url: server.url, name: 'a host' })
    closing.push(host, server)
    const fail = async () => {
      const began = performance.now()
      const many = Array.from({ length: 5 }, () => host.run((client) => client.query('SLEEP'), 100))
      await Promise.allSettled(many)
      await expect.poll(() => host.mayAsk(), { timeout: 10_000, interval: 10 }).toBe(true)
      return performance.now() - began
    }
    expect(await fail()).toBeGreaterThan(1000)
    expect(host.mayAsk()).toBe(false)
    expect(await fail()).toBeGreaterThan(2000)
    await host.run((client) => client.query('SELECT 1'), 5000)
    expect([host.mayAsk(), host.mayAsk()]).toEqual([true, true])
  },
)
