import { chmodSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type * as metricsServerModule from '../../../src/answers/api/servers/metrics-server.js'
import { openMetricsPort } from '../../../src/answers/api/servers/metrics-server.js'
import { allOptions, optionsOf, variableOf } from '../../../src/node/config/all-options.js'
import { fromText } from '../../../src/node/config/values.js'
import type * as logFileModule from '../../../src/program/console/log-file.js'
import type * as nodeLogModule from '../../../src/program/console/node-log.js'
import type * as verifierPoolModule from '../../../src/base/crypto/verifier-pool.js'
import type * as devnetModule from '../../../src/node/devnet/devnet.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import { Network } from '../../../src/network/network.js'
import type * as openTransportModule from '../../../src/network/open-transport.js'
import type { KeyedOption, OptionKey } from '../../../src/node/options-to-node.js'
import type * as serveNodeModule from '../../../src/node/serving/serve-node.js'
import type * as stepWatchModule from '../../../src/node/standing/step-watch.js'
import { parseAddress } from '../../../src/base/primitives/address.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type * as openLedgerModule from '../../../src/node/open-ledger.js'
import type * as resolverModule from '../../../src/answers/resolver/resolver.js'
import type { NodeCommand } from '../../../src/base/runtime/option.js'
import { Backfill } from '../../../src/node/backfill.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { DataDirectory } from '../../../src/ledger/storage/directory.js'
import { storageOptions } from '../../../src/ledger/storage/storage-options.js'
import { OwnKey } from '../../../src/voting/key-holder.js'
import { SignerServer } from '../../../src/voting/remote/signer-server.js'
import { Voting } from '../../../src/voting/voting.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { shippedSpecFile } from '../../../src/node/library/shipped.js'
import { quietLog } from '../../support/builders/chain.js'
import { MemorySigns } from '../../support/network/voting-net.js'
import { devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import type * as witnessCollectorModule from '../../../src/node/heads/witness-collector.js'
import { verifierKeyText } from '../../../src/identity/proofs/witness-note.js'
import { WitnessSigner } from '../../../src/clients/witness/witness-signer.js'
import { makeWitnessKey } from '../../../src/program/cli/witness-key.js'
import { witnessSecret } from '../../support/builders/witness-world.js'
import { commandOf } from '../../support/builders/config.js'
import { Workbench } from '../../support/process/workbench.js'

/** What the rooms of a node were given, by room. */
const given = vi.hoisted(() => new Map<string, unknown>())

vi.mock('../../../src/program/console/node-log.js', async (original) => {
  const real = await original<typeof nodeLogModule>()
  const nodeLog: typeof real.nodeLog = (options) => {
    given.set('log', { ...options, shown: [...options.shown] })
    return real.nodeLog({ ...options, level: 'silent', shown: [] })
  }
  return { ...real, nodeLog }
})
vi.mock('../../../src/program/console/log-file.js', async (original) => {
  const real = await original<typeof logFileModule>()
  class LogFile extends real.LogFile {
    constructor(path: string) {
      given.set('log file', path)
      super(path)
    }
  }
  return { ...real, LogFile }
})
vi.mock('../../../src/base/crypto/verifier-pool.js', async (original) => {
  const real = await original<typeof verifierPoolModule>()
  const createVerifierPool: typeof real.createVerifierPool = (options) => {
    given.set('verifier', options)
    return real.createVerifierPool(options)
  }
  return { ...real, createVerifierPool }
})
vi.mock('../../../src/network/open-transport.js', async (original) => {
  const real = await original<typeof openTransportModule>()
  const openTransport: typeof real.openTransport = (options) => {
    given.set('transport', options)
    // Nothing of the test is announced in the network of the machine.
    return real.openTransport({ ...options, mdns: false })
  }
  return { ...real, openTransport }
})
vi.mock('../../../src/node/open-ledger.js', async (original) => {
  const real = await original<typeof openLedgerModule>()
  const openLedger: typeof real.openLedger = (spec, directory, verifier, env, options) => {
    const { keepBlocks, keepDocuments, archiveProofs } = options ?? {}
    given.set('ledger', { keptBlocks: keepBlocks, keptDocuments: keepDocuments, keepsStates: archiveProofs })
    return real.openLedger(spec, directory, verifier, env, options)
  }
  return { ...real, openLedger }
})
// There is no PostgreSQL.
vi.mock('../../../src/node/ship-rows.js', () => ({
  openShards: async (target: object) => void given.set('shards', { ...target }),
}))
// There is no object store.
vi.mock('../../../src/node/node-mirror.js', () => ({
  openMirror: async (settings: object) => {
    given.set('mirror', settings)
    return { start: async () => {}, look: () => {}, close: async () => {}, place: '' }
  },
}))
// The file of the state is not there.
vi.mock('../../../src/node/join-state.js', () => ({
  joinState: async (from: string) => given.set('state', { from }),
}))
vi.mock('../../../src/node/heads/witness-collector.js', async (original) => {
  const real = await original<typeof witnessCollectorModule>()
  class WitnessCollector extends real.WitnessCollector {
    constructor(options: ConstructorParameters<typeof real.WitnessCollector>[0]) {
      super(options)
      given.set('collector', options.witnesses)
    }
  }
  return { ...real, WitnessCollector }
})
vi.mock('../../../src/answers/resolver/resolver.js', async (original) => {
  const real = await original<typeof resolverModule>()
  class Resolver extends real.Resolver {
    constructor(options: ConstructorParameters<typeof real.Resolver>[0]) {
      super(options)
      given.set('resolver', options)
    }
  }
  return { ...real, Resolver }
})
vi.mock('../../../src/node/standing/step-watch.js', async (original) => {
  const real = await original<typeof stepWatchModule>()
  class StepWatch extends real.StepWatch {
    constructor(options: ConstructorParameters<typeof real.StepWatch>[0]) {
      super(options)
      given.set('step', options)
    }
  }
  return { ...real, StepWatch }
})
vi.mock('../../../src/node/devnet/devnet.js', async (original) => {
  const real = await original<typeof devnetModule>()
  class Devnet extends real.Devnet {
    constructor(options: ConstructorParameters<typeof real.Devnet>[0]) {
      super(options)
      given.set('devnet', options)
    }

    override fund(funding: Parameters<typeof real.Devnet.prototype.fund>[0]): Promise<void> {
      given.set('accounts', funding)
      return super.fund(funding)
    }

    override seed(count: number): Promise<void> {
      given.set('dids', { count })
      return super.seed(count)
    }
  }
  return { ...real, Devnet }
})
vi.mock('../../../src/program/cli/devnet-nodes.js', () => ({
  runLocalNetwork: async (...[, , , nodes]: unknown[]) => given.set('processes', { nodes }),
}))
vi.mock('../../../src/node/serving/serve-node.js', async (original) => {
  const real = await original<typeof serveNodeModule>()
  const serve: typeof real.serve = async (node, options) => {
    given.set('node', node)
    given.set('origins', options.tuning)
    await (await real.serve(node, options)).close()
    throw new UserError('seen enough')
  }
  return { ...real, serve }
})

vi.mock('../../../src/answers/api/servers/metrics-server.js', async (original) => {
  const real = await original<typeof metricsServerModule>()
  return { ...real, openMetricsPort: vi.fn(real.openMetricsPort) }
})

const opened = {
  directory: vi.spyOn(DataDirectory, 'open'),
  database: vi.spyOn(Database, 'open'),
  pool: vi.spyOn(Mempool, 'open'),
  network: vi.spyOn(Network, 'open'),
  voting: vi.spyOn(Voting, 'open'),
  witness: vi.spyOn(WitnessSigner, 'open'),
  server: vi.spyOn(ApiServer, 'open'),
  metrics: vi.mocked(openMetricsPort),
}

const backfill = vi.spyOn(Backfill.prototype, 'start')

const bench = new Workbench()
const key = bench.write('validator.key', toHex(devnetValidatorKey(2).privateKey))
chmodSync(key, 0o600)
const witnessKeyFile = bench.path('witness.key')
makeWitnessKey(witnessKeyFile, 'witness.example/w1', { bytes: (length) => new Uint8Array(length).fill(7) })
const signerSocket = bench.path('signer.sock')
const payee = 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'
const otherMnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const hash = 'ab'.repeat(32)
const peer = '127.0.0.1:9'

vi.mock('../../../src/ledger/engine/postgres-engine.js', () => ({
  PostgresEngine: { open: async (urls: readonly string[]) => void given.set('engine', urls) },
}))
vi.mock('../../../src/node/gateway/gateway.js', () => ({
  openGateway: async (options: unknown) => {
    given.set('gateway', options)
    throw new UserError('seen enough')
  },
}))

interface Effect {
  /** As in the environment; not the default. */
  readonly value: string
  /** The room that takes it, and what that room is given. */
  readonly room: string
  readonly is: object | string | number
  /** Whether it is shown in a run of its own, for it excludes others; the keys are those that it excludes of every run. */
  readonly alone?: true | readonly OptionKey[]
}

const limit = (value: string, name: string): Effect => ({ value, room: 'limits', is: { [name]: Number(value) } })
const peers = (value: string, is: object): Effect => ({ value, room: 'peers', is })

/** What each option changes in a node, seen where its room takes it. */
const effects: Readonly<Record<OptionKey, Effect>> = {
  'node.genesis': { value: 'localnet', room: 'node', is: { spec: { name: 'localnet' } } },
  'node.portBase': { value: '0', room: 'server', is: { port: 0 } },
  'node.log': { value: 'peers,calls', room: 'log', is: { shown: ['peers', 'calls'] } },
  'node.logFormat': { value: 'json', room: 'log', is: { format: 'json' } },
  'node.logFile': { value: bench.path('node.log'), room: 'log file', is: bench.path('node.log') },
  'node.logLevel': { value: 'error', room: 'log', is: { level: 'error' } },
  'storage.dataDir': { value: bench.path('data'), room: 'directory', is: bench.path('data') },
  'storage.cacheSize': { value: '1048576', room: 'database', is: 1_048_576 },
  'storage.stateFrom': { value: 'state.dls', room: 'state', is: { from: 'state.dls' } },
  'storage.backfill': { value: 'false', room: 'backfill', is: 'none', alone: true },
  'storage.keepState': { value: 'false', room: 'keeper', is: 'none', alone: true },
  'storage.archiveProofs': { value: 'true', room: 'ledger', is: { keepsStates: true } },
  'storage.prune': { value: '1001', room: 'ledger', is: { keptBlocks: 1001 } },
  'storage.pruneDocuments': { value: '289', room: 'ledger', is: { keptDocuments: 289 } },
  'api.host': { value: '127.0.0.1', room: 'server', is: { hosts: ['127.0.0.1'] } },
  'api.hostNames': { value: 'node.example.org', room: 'access', is: { hostNames: ['node.example.org'] } },
  'api.trustedProxies': { value: '192.0.2.7', room: 'access', is: { trustedProxies: ['192.0.2.7'] } },
  'api.clientHeader': { value: 'x-real-ip', room: 'access', is: { clientHeader: 'x-real-ip' } },
  'api.pages': { value: 'false', room: 'pages', is: 'none' },
  'api.metricsHost': { value: '127.0.0.2', room: 'metrics', is: { hosts: ['127.0.0.2'] } },
  'api.dereference': { value: 'url', room: 'context', is: { dereference: 'url' } },
  'api.connections': limit('11', 'connections'),
  'api.connectionsPerAddress': limit('12', 'connectionsPerAddress'),
  'api.wsConnections': limit('13', 'wsConnections'),
  'api.batch': limit('14', 'batch'),
  'api.answerCache': limit('15', 'answerCache'),
  'api.rateRequests': limit('16', 'rateRequests'),
  'api.rateWindow': limit('117', 'rateWindow'),
  'api.drain': { value: '1', room: 'origins', is: { api: expect.objectContaining({ drain: 1 }) as object } },
  'api.rateSparesLoopback': { value: 'false', room: 'limits', is: { rateSparesLoopback: false } },
  'network.peers': peers(peer, { peers: [peer] }),
  'network.follow': { value: peer, room: 'network', is: { hasPool: false }, alone: true },
  'network.hosts': { value: '127.0.0.1', room: 'transport', is: { hosts: ['127.0.0.1'] } },
  'network.enabled': { value: 'false', room: 'node', is: { network: undefined }, alone: true },
  'network.mdns': { value: 'true', room: 'transport', is: { mdns: true } },
  'network.assumeValid': {
    value: `9:${hash}`,
    room: 'network',
    is: { assumeValid: { height: 9, hash: new Uint8Array(32).fill(0xab) } },
  },
  'network.outbound': peers('21', { outbound: 21 }),
  'network.inbound': peers('22', { inbound: 22 }),
  'network.inboundPerHost': peers('23', { inboundPerHost: 23 }),
  'voting.validatorKey': { value: key, room: 'voting', is: { key: Uint8Array.from(devnetValidatorKey(2).privateKey) } },
  'voting.validatorSigner': {
    value: signerSocket,
    room: 'voting',
    is: { holder: { path: signerSocket } },
    alone: true,
  },
  'witness.witness': {
    value: `${verifierKeyText(witnessSecret('w').key)},http://192.0.2.7:9`,
    room: 'collector',
    is: [{ url: 'http://192.0.2.7:9' }],
  },
  'witness.witnessKey': { value: witnessKeyFile, room: 'witness', is: { key: { name: 'witness.example/w1' } } },
  'devnet.blockTime': { value: '31', room: 'devnet', is: { mining: { kind: 'interval', seconds: 31 } } },
  'devnet.automine': { value: 'false', room: 'devnet', is: { mining: { kind: 'manual' } }, alone: true },
  'devnet.accounts': { value: '3', room: 'accounts', is: { accounts: 3 } },
  'devnet.mnemonic': { value: otherMnemonic, room: 'accounts', is: { mnemonic: otherMnemonic } },
  'devnet.balance': { value: '12000.5', room: 'accounts', is: { balance: 1_200_050_000_000n } },
  'devnet.seedDids': { value: '2', room: 'dids', is: { count: 2 } },
  'devnet.state': {
    value: bench.path('state'),
    room: 'devnet',
    is: { stateFile: bench.path('state') },
    alone: ['storage.dataDir'],
  },
  'devnet.allowOrigin': {
    value: 'http://LocalHost:80,https://app.example',
    room: 'origins',
    is: { devnet: { allowedOrigins: ['http://localhost', 'https://app.example'] } },
  },
  'devnet.nodes': { value: '2', room: 'processes', is: { nodes: 2 }, alone: true },
  'mining.payTo': { value: payee, room: 'voting', is: { payTo: parseAddress(payee) } },
  'shipping.shards': {
    value: 'postgres://db1,db2:5433/a,postgres://db3/b',
    room: 'shards',
    is: { shards: ['postgres://db1,db2:5433/a', 'postgres://db3/b'] },
  },
  'shipping.backlog': { value: '2000000', room: 'shards', is: { backlog: 2_000_000 } },
  'shipping.standBy': { value: '60', room: 'shards', is: { standBy: 60 } },
  'shipping.takeOver': { value: 'true', room: 'shards', is: { takeOver: true } },
  'mirror.to': { value: 's3://bucket/prefix', room: 'mirror', is: { to: 's3://bucket/prefix' } },
  'mirror.versions': { value: 'all', room: 'mirror', is: { versions: 'all' } },
  'mirror.nodes': {
    value: 'https://a.example,http://b.example',
    room: 'mirror',
    is: { nodes: ['https://a.example', 'http://b.example'] },
  },
  'mirror.contact': { value: 'ops@example.org', room: 'mirror', is: { contact: 'ops@example.org' } },
  'mirror.keepBlocks': { value: '17', room: 'mirror', is: { keepBlocks: 17 } },
  'mirror.keepSeconds': { value: '18', room: 'mirror', is: { keepSeconds: 18 } },
  'mempool.size': { value: '8000000', room: 'pool', is: { poolSize: 8_000_000 } },
  'mempool.expiry': { value: '41000', room: 'pool', is: { expiry: 41_000 } },
  'resolver.cacheSize': { value: '51', room: 'resolver', is: { cacheBytes: 51 } },
  'resolver.queriesWaiting': { value: '52', room: 'resolver', is: { queryLimits: { waiting: 52 } } },
  'resolver.queryDuration': { value: '153', room: 'resolver', is: { queryLimits: { duration: 153 } } },
  'resolver.queryDocuments': { value: '154', room: 'resolver', is: { queryLimits: { examined: 154 } } },
  'resolver.staleAfter': { value: '155', room: 'step', is: { policy: { staleAfter: 155_000 } } },
  'resolver.answerOutOfStep': { value: 'true', room: 'step', is: { policy: { always: true } } },
  'crypto.threads': { value: '1', room: 'verifier', is: { workers: 1 } },
  'gateway.shards': {
    value: 'postgres://a/one,postgres://b/two',
    room: 'engine',
    is: ['postgres://a/one', 'postgres://b/two'],
  },
  'gateway.nodes': { value: 'http://192.0.2.7:20334/', room: 'gateway', is: { nodes: ['http://192.0.2.7:20334'] } },
  'gateway.verifyOwn': { value: 'true', room: 'gateway', is: { verifyOwn: true } },
  'gateway.rows': { value: '67108864', room: 'gateway', is: { rows: 67_108_864 } },
}

/** What every run needs: free ports, a directory, a chain. */
const base: readonly string[] = ['node.portBase', 'storage.dataDir', 'node.genesis']

/** Runs a command with these options, and returns what the rooms were given. */
async function givenBy(command: NodeCommand, options: readonly KeyedOption[]): Promise<ReadonlyMap<string, unknown>> {
  given.clear()
  vi.clearAllMocks()
  bench.env = Object.fromEntries(options.map((option) => [variableOf(option), effects[option.key].value]))
  if (command === 'start') bench.env[variableOf(storageOptions.dataDir)] = bench.path('start')
  const { err } = await bench.run(command)
  expect(err).toBe(given.has('processes') ? '' : 'error: seen enough\n')
  const context = opened.server.mock.lastCall?.[0]
  const network = opened.network.mock.lastCall?.[0]
  return new Map([
    ...given,
    ['directory', opened.directory.mock.lastCall?.[0]],
    ['database', opened.database.mock.lastCall?.[1]],
    ['pool', opened.pool.mock.lastCall?.[0].limits],
    ['network', network],
    ['peers', network?.settings],
    ['voting', opened.voting.mock.lastCall?.[0]],
    ['witness', opened.witness.mock.lastCall?.[0].secret],
    ['server', opened.server.mock.lastCall?.[1]],
    ['metrics', opened.metrics.mock.lastCall?.[1]],
    ['context', context],
    ['limits', context?.limits],
    ['access', context?.access],
    ['backfill', backfill.mock.lastCall === undefined ? 'none' : 'filled'],
    ['keeper', network?.keeper === undefined ? 'none' : 'kept'],
    ['pages', context?.pages === undefined ? 'none' : 'served'],
  ])
}

const runs = new Map<string, Promise<ReadonlyMap<string, unknown>>>()

/** The run that shows an option: one with all others of its command, or one of its own. */
function runWith(option: KeyedOption): Promise<ReadonlyMap<string, unknown>> {
  const command = commandOf(option)
  const { alone = false } = effects[option.key]
  const together = (other: KeyedOption) => commandOf(other) === command && effects[other.key].alone === undefined
  const isBase = ({ key }: KeyedOption) => base.includes(key) && !(Array.isArray(alone) && alone.includes(key))
  const options = optionsOf(command).filter(
    (other) => isBase(other) || (alone === false ? together(other) : other === option),
  )
  const name = alone === false ? command : option.key
  const run = runs.get(name) ?? givenBy(command, options)
  runs.set(name, run)
  return run
}

let signer: SignerServer
beforeAll(async () => {
  const genesis = genesisBlock(parseSpec(readFileSync(shippedSpecFile('localnet'), 'utf8'))).header.hash
  const holder = new OwnKey({ key: devnetValidatorKey(2).privateKey, store: new MemorySigns(), genesis })
  signer = await SignerServer.open({ socket: signerSocket, holder, genesis, begin: true, log: quietLog() })
})

afterAll(async () => {
  await signer.close()
  vi.restoreAllMocks()
  bench.close()
})

describe('an option', () => {
  it.each(allOptions.map((option) => [option.key, option] as const))('acts: %s', async (_, option) => {
    const { value, room, is } = effects[option.key]
    expect(fromText(option, value)).not.toEqual(option.default)
    const node = await runWith(option)
    if (typeof is === 'object') expect(node.get(room)).toMatchObject(is)
    else expect(node.get(room)).toBe(is)
  })
})
