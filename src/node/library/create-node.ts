/**
 * Lets a program run a node inside its own process, with checked arguments and plain types.
 *
 *   CreateNodeOptions -> requireOptions -> tuningOf, nodeOptions, peeringOptions -> reserve (data directory)
 *     -> startNode -> embedded: nodeChain, nodeMempool, nodeWallet, nodePeers, nodeEvents, nodeDevnet
 *     -> openApi -> serve, if `api` asks for it
 *     -> LedgerNode: facade over the rooms, with close
 *
 * Imports api, client, config, consensus, credentials, crypto, devnet, did, errors, events, identifiers, light, network, node, primitives, proofs, resolver, runtime,
 * verifier, voting, wallet, serving; used by the package entry and cli.
 * - Nodes of one process share nothing; a data directory has one user at a time.
 * - Adds no rule of its own: a fault of the options is a UserError, a broken rule the RuleError of its room.
 * - After close, a call that needs the node is a UserError.
 */
import { setMaxListeners } from 'node:events'
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loopbackHosts } from '../../answers/api/http/origin.js'
import { requireKnown, requireOptions } from '../../base/primitives/known-members.js'
import { requireObject, requireWhole } from '../../clients/client/arguments.js'
import { acceptedPrefixes } from '../../ledger/consensus/sanity.js'
import { credentialMembers, pageMembers, queryMembers, resolveMembers } from '../../identity/did/asked-members.js'
import type { CredentialOptions, DocumentQuery, ResolveOptions } from '../../identity/did/resolution.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { NodeTuning } from '../options-to-node.js'
import { defaultPortBase, portOffsets } from '../ports.js'
import { type Servers, serve, type ServingOptions } from '../serving/serve-node.js'
import type { Node, NodeOptions } from '../node.js'
import { startNode } from '../start-node.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { defined } from '../../base/primitives/defined.js'
import type { Spec } from '../../base/primitives/spec.js'
import { parseSpec } from '../../base/primitives/spec-file.js'
import type { Log } from '../../base/runtime/env.js'
import { silentLog, systemEnv } from '../../base/runtime/process-env.js'
import { readTextFile } from '../../clients/wallet/files.js'
import { nodeChain, nodeMempool } from './chain-node.js'
import { devnetSettings } from './devnet-settings.js'
import { nodeEvents } from './node-events.js'
import type { ApiOptions, CreateNodeOptions, CredentialPage, LedgerNode, NodeDevnet } from './node-types.js'
import { peeringOptions } from './peering-options.js'
import { nodePeers, untilSynced, votingOf } from './peers-node.js'
import { isShippedSpec, shippedSpecFile, shippedSpecs } from './shipped.js'
import { addressBytes, units } from './caller-values.js'
import { nodeWallet } from './wallet-node.js'

/** Data directories in use by this process. The database's lock keeps other processes out, but names no user within this one. */
const directories = new Set<string>()

/**
 * Runs a node in this process: chain, pool, resolver, peers if `peers`, `listen` or `mdns` asks for them, and HTTP if `api` does.
 * Nodes share nothing, so there may be several. A {@link UserError} describes a fault of the options, the directory or a port.
 */
export async function createNode(options: CreateNodeOptions): Promise<LedgerNode> {
  requireNodeOptions(options)
  const { dataDir, log = silentLog } = options
  const startOptions = nodeOptions(options, await tuningOf(options))
  const release = dataDir === undefined ? undefined : await reserve(dataDir)
  try {
    const node = await startNode({ ...startOptions, variables: process.env, env: systemEnv(log) })
    try {
      return await embedded(node, options, { ...startOptions, log, release })
    } catch (error) {
      await node.close()
      throw error
    }
  } catch (error) {
    release?.()
    throw error
  }
}

async function embedded(
  node: Node,
  { api, accounts, mnemonic }: CreateNodeOptions,
  { tuning, log, release }: ServingOptions & { readonly release: (() => void) | undefined },
): Promise<LedgerNode> {
  const closing = new AbortController()
  // Any number of callers may wait for transactions.
  setMaxListeners(0, closing.signal)
  const live = () => {
    if (closing.signal.aborted) throw new UserError('the node is closed')
    return node
  }
  const facade = {
    name: node.spec.name,
    dataDir: node.directory.path,
    resolver: {
      resolve: async (did: string, options: ResolveOptions = {}) => {
        if (typeof did !== 'string') throw new RuleError('request-parameter', 'did: text is needed')
        requireOptions('resolve', options, resolveMembers)
        return live().resolver.resolve(did, options)
      },
      query: async (query: DocumentQuery) => {
        requireOptions('query', query, queryMembers)
        return live().resolver.query(query)
      },
      resolveCredential: async (id: string, options: CredentialOptions = {}) => {
        if (typeof id !== 'string') throw new RuleError('request-parameter', 'id: text is needed')
        requireOptions('resolveCredential', options, credentialMembers)
        if (!['undefined', 'string'].includes(typeof options.issuer)) {
          throw new RuleError('request-parameter', 'issuer: text is needed')
        }
        return live().resolver.credentials.resolve(id, options)
      },
      listCredentials: async (did: string, page: CredentialPage = {}) => {
        requireOptions('listCredentials', page, pageMembers)
        const { skip = 0, limit = 0 } = page
        if (typeof did !== 'string') throw new RuleError('request-parameter', 'did: text is needed')
        requireWhole('skip', skip, [0, Number.MAX_SAFE_INTEGER])
        requireWhole('limit', limit, [0, Number.MAX_SAFE_INTEGER])
        return live().resolver.credentials.list(did, { skip, limit })
      },
    },
    chain: nodeChain(live, closing.signal),
    mempool: nodeMempool(live),
    wallet: nodeWallet(live, systemEnv(log).random, defined({ accounts, mnemonic })),
    get sync() {
      return live().sync()
    },
    get standing() {
      return live().standing()
    },
    synced: async (options?: { readonly timeout?: number }) => untilSynced(live(), closing.signal, options),
    peers: node.network && nodePeers(live),
    get voting() {
      return votingOf(live())
    },
    events: nodeEvents(node, log),
    devnet: node.devnet && nodeDevnet(live),
    failure: node.failure,
  }
  const open = api === undefined || api === false ? undefined : await openApi(node, { tuning, log })
  let closed: Promise<void> | undefined
  const close = async () => {
    closing.abort()
    try {
      await open?.servers.close()
    } finally {
      await node.close().finally(release)
    }
  }
  return Object.assign(facade, { api: open?.urls, close: () => (closed ??= close()) })
}

interface OpenApi {
  readonly servers: Servers
  readonly urls: NonNullable<LedgerNode['api']>
}

async function openApi(node: Node, options: ServingOptions): Promise<OpenApi> {
  const servers = await serve(node, options)
  const { rest, rpc, ws } = servers.ports
  const at = `//${servers.host}`
  return { servers, urls: { rest: `http:${at}:${rest}`, rpc: `http:${at}:${rpc}`, ws: `ws:${at}:${ws}` } }
}

function nodeDevnet(node: () => Node): NodeDevnet {
  const devnet = () => node().devnet as NonNullable<Node['devnet']>
  return {
    mine: async (blocks = 1) => devnet().mine(blocks),
    increaseTime: async (seconds) => devnet().increaseTime(seconds),
    setNextBlockTime: async (time) => devnet().setNextBlockTime(time),
    faucet: async (address, amount) => devnet().faucet(address, units('amount', amount)),
    snapshot: async () => devnet().snapshot(),
    revert: async (snapshot) => devnet().revert(snapshot),
  }
}

/** Reads `tuning`; the rows, those of the interfaces among them, are loaded only for it. */
async function tuningOf({ tuning }: CreateNodeOptions): Promise<NodeTuning> {
  if (tuning === undefined) return {}
  const { readTuning } = await import('./tuning-options.js')
  return readTuning(tuning)
}

function nodeOptions(options: CreateNodeOptions, tuned: NodeTuning): Omit<NodeOptions, 'env'> {
  const { api, dataDir, mineTo } = options
  const { portBase, hosts }: ApiOptions = typeof api === 'object' ? api : {}
  const spec = specOf(options)
  const { peering, validator } = peeringOptions(options, spec)
  const tuning: NodeTuning = {
    ...tuned,
    node: { ...tuned.node, ...defined({ portBase }) },
    api: { ...tuned.api, ...defined({ hosts }) },
    network: { ...tuned.network, ...peering?.network },
    devnet: {
      ...tuned.devnet,
      ...devnetSettings(options, spec),
    },
    mining: {
      ...tuned.mining,
      ...(mineTo === undefined ? {} : { payTo: payee(mineTo, spec, validator !== undefined) }),
    },
    storage: { ...tuned.storage, ...(dataDir === undefined ? {} : { dataDir: resolve(dataDir) }) },
  }
  return { spec, tuning, ...defined({ peering, validator }) }
}

/** An address that a block may pay. */
function payee(mineTo: string, { name, devnet, hasValidators, producer }: Spec, votes: boolean): ProgramHash {
  const hash = addressBytes(mineTo, 'mineTo')
  if (devnet) throw new UserError(`mineTo: ${name} is a devnet, whose blocks pay the key of its own validator`)
  // Where miners make the blocks, each node hands out work, which pays this address.
  if (hasValidators && producer === 'sponsor' && !votes) {
    throw new UserError(
      `mineTo: on ${name} validators make the blocks, and this node has neither validatorKey nor validatorSigner`,
    )
  }
  if (acceptedPrefixes.includes(hash[0])) return hash
  throw new UserError('mineTo: a chain pays addresses that begin with E, 8 or i')
}

const optionNames: Readonly<Record<keyof CreateNodeOptions, true>> = {
  network: true,
  spec: true,
  dataDir: true,
  api: true,
  mining: true,
  accounts: true,
  mnemonic: true,
  balance: true,
  seedDids: true,
  mineTo: true,
  peers: true,
  listen: true,
  mdns: true,
  assumeValid: true,
  validatorKey: true,
  validatorSigner: true,
  resetSignState: true,
  tuning: true,
  log: true,
}

/** Refuses unknown or wrong options: otherwise a node would silently not do something, such as keep its chain. */
function requireNodeOptions(options: CreateNodeOptions): void {
  const given = requireObject('createNode needs an object with options', options)
  requireKnown('createNode', given, Object.keys(optionNames))
  const { dataDir, api, log } = given
  if (log !== undefined) {
    const { debug, info, warn, error }: Partial<Log> = requireObject(
      'log: an object with debug, info, warn and error',
      log,
    )
    if (![debug, info, warn, error].every((write) => typeof write === 'function')) {
      throw new UserError('log: debug, info, warn and error are needed, functions of fields and a message')
    }
  }
  if (dataDir !== undefined && (typeof dataDir !== 'string' || dataDir === '')) {
    throw new UserError('dataDir: the path of a directory is needed')
  }
  if (api !== undefined && typeof api !== 'boolean') requireApi(requireObject('api: neither true nor an object', api))
}

function requireApi(given: ApiOptions): void {
  requireKnown('api', given, ['portBase', 'hosts', 'allowOrigins'])
  const { portBase = defaultPortBase, hosts = loopbackHosts } = given
  requireWhole('api.portBase', portBase, [0, 0xffff - portOffsets.p2p])
  if (!Array.isArray(hosts) || hosts.length === 0 || hosts.some((host) => typeof host !== 'string')) {
    throw new UserError('api.hosts: a list of addresses to listen on is needed')
  }
}

function specOf({ network, spec }: Pick<CreateNodeOptions, 'network' | 'spec'>): Spec {
  if ((network === undefined) === (spec === undefined)) {
    throw new UserError('createNode needs either network, a chain that comes with the package, or spec')
  }
  if (spec !== undefined) {
    if (typeof spec !== 'string') return parseSpec(JSON.stringify(spec))
    if (/^\s*\{/.test(spec)) return parseSpec(spec)
    throw new UserError('spec: the JSON text of a chain spec is needed, or the object; a file has to be read first')
  }
  if (network === undefined || !isShippedSpec(network)) {
    throw new UserError(`network: ${network} is none of ${shippedSpecs.join(', ')}; another chain is given as spec`)
  }
  return parseSpec(readTextFile(shippedSpecFile(network), 'chain spec'))
}

/** Reserves a directory for one node of this process; the returned function releases it. */
async function reserve(dataDir: string): Promise<() => void> {
  const path = await realpath(dataDir).catch(() => resolve(dataDir))
  if (directories.has(path)) {
    throw new UserError(`${dataDir} is the data directory of another node in this process; close it, or choose another`)
  }
  directories.add(path)
  return () => void directories.delete(path)
}
