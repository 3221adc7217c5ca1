import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresEngine } from '../../src/ledger/engine/postgres-engine.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { PostgresServer } from '../support/process/postgres.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'

/** The scripts of docs/operate/shipping, with servers in the place of containers. */

const folder = 'docs/operate/shipping/'
const { services } = parseYaml(repositoryFile(`${folder}compose.yml`)) as unknown as {
  services: Readonly<Record<string, { command: readonly string[]; environment: Readonly<Record<string, string>> }>>
}
const page = repositoryFile('docs/gateways.md')
const script = repositoryFile(`${folder}replica.sh`)
const directories = new Directories()
let primary: PostgresServer
let replica: PostgresServer
let node: NodeProcess

/** The URL after an option of a service, with the addresses of the servers for the names of their containers. */
function urlOf(service: string, option: string): string {
  const { command = [] } = services[service] ?? {}
  const url = command[command.indexOf(option) + 1] as string
  return url.replace('@primary,replica/', `@${primary.host},${replica.host}/`)
}

const following = () => ({
  PRIMARY: (services['replica']?.environment['PRIMARY'] as string).replace(
    /host=primary /,
    `host=127.0.0.1 port=${primary.port} `,
  ),
})

/** What docs/gateways.md runs in a container. */
function commandFor(service: string): string {
  const [, command] = new RegExp(`^docker compose exec ${service} (.+)$`, 'm').exec(page) ?? []
  if (command === undefined) throw new Error(`docs/gateways.md runs nothing in ${service}`)
  return command
}

const heightOf = async (server: NodeProcess) => (await server.get('block/height')).body.Result as number

beforeAll(async () => {
  primary = await PostgresServer.create()
  primary.sql('CREATE DATABASE didledger')
  // A container is no client of its own machine: this is what the image has for others.
  writeFileSync(join(primary.data, 'pg_hba.conf'), 'local all all trust\nhost all all all trust\n')
  primary.runScript(repositoryFile(`${folder}primary.sh`))
  primary.kill()
  replica = await PostgresServer.byScript(script, following())
  primary.start()
})
afterAll(async () => {
  await node.stop()
  for (const server of [replica, primary]) server.close()
  directories.remove()
})

const heightOfRows = (server: PostgresServer) => Number(server.sql('SELECT height FROM didledger.shard', 'didledger'))

const syncStates = () => primary.sql('SELECT application_name, sync_state FROM pg_stat_replication')

it('the replica copies the primary once that answers, and confirms its commits', async () => {
  await expect.poll(syncStates, { timeout: 30_000 }).toBe('replica|sync\n')
  expect(primary.sql('SHOW synchronous_commit')).toBe('remote_write\n')
  expect(readFileSync(join(replica.data, 'postgresql.auto.conf'), 'utf8')).toContain('application_name=replica')
})

it('the roles of the URLs are enough for the node and the gateways', async () => {
  const shards = urlOf('node', '--ship')
  node = await NodeProcess.start('devnet', '--data-dir', directories.fresh(), '--ship', shards)
  await node.admin('dev_mine', { blocks: 3 })
  const gateway = await NodeProcess.start(
    ...['gateway', '--genesis', 'devnet', '--shards', urlOf('gateway-1', '--shards')],
  )
  await expect.poll(() => heightOf(gateway)).toBe(await heightOf(node))
  await gateway.stop()
  const reader = await PostgresEngine.open([urlOf('gateway-2', '--shards')])
  await expect(reader.load(0)).rejects.toThrow('permission denied')
  await reader.close()
})

it('the primary has nothing that the replica lacks, and continues when it is there again', async () => {
  replica.kill()
  await node.admin('dev_mine', { blocks: 2 })
  const height = await heightOf(node)
  const waiting = () => primary.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  await expect.poll(waiting, { timeout: 30_000 }).toBe('1\n')
  expect(heightOfRows(primary)).toBeLessThan(height)
  replica.startScript(script, following())
  await expect.poll(syncStates, { timeout: 30_000 }).toBe('replica|sync\n')
  await expect.poll(() => heightOfRows(primary), { timeout: 30_000 }).toBe(height)
})

it('the primary does without the replica where it is told to', async () => {
  replica.kill()
  primary.runScript(commandFor('primary'))
  await node.admin('dev_mine', { blocks: 2 })
  const height = await heightOf(node)
  await expect.poll(() => heightOfRows(primary), { timeout: 30_000 }).toBe(height)
  replica.startScript(script, following())
  await expect.poll(() => replica.isUp && heightOfRows(replica), { timeout: 30_000 }).toBe(height)
})

it('a promoted replica takes rows without another one', async () => {
  primary.kill()
  replica.runScript(commandFor('replica'))
  await node.admin('dev_mine', { blocks: 2 })
  const height = await heightOf(node)
  await expect.poll(() => heightOfRows(replica), { timeout: 30_000 }).toBe(height)
})
