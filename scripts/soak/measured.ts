/**
 * The measured node: `measured.ts SPEC DIRECTORY`, forked by soak.ts with --expose-gc. Reports its addresses, and answers
 * 'sample' and 'all' with a sample.
 */
import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import type { SignatureCheck } from '../../src/base/primitives/signature.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../src/base/runtime/process-env.js'
import { devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import type { DidState } from '../../src/identity/did/state.js'
import type { MapPage } from '../../src/ledger/storage/rows/map/map-page.js'
import { PageMemory } from '../../src/ledger/storage/rows/map/page-memory.js'
import { KnownDocuments } from '../../src/ledger/storage/write/known-documents.js'
import { EventLog } from '../../src/ledger/events/event-log.js'
import { serve } from '../../src/node/serving/serve-node.js'
import { startNode } from '../../src/node/start-node.js'
import { checkOf } from '../../test/support/builders/signatures.js'
import type { Places } from '../bench/processes.js'
import { trustedProxy } from './hostile/scene.js'
import type { Sample } from './sample.js'

/** Messages to the parent process. */
export type Said = { readonly places: Places } | { readonly sample: Sample }

/** Minimum signatures in a cache that lives as long as the node. */
const lasting = 64
/** Bytes of a page of the map that is full, with its hashes. */
const pageBytes = 1000

const [spec = '', dataDir = ''] = process.argv.slice(2)

fillCaches()
const complain = (fields: Record<string, unknown>, message: string) =>
  console.error(JSON.stringify({ ...fields, msg: message }))
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: complain }
const hosts = ['127.0.0.1']
// With a trusted proxy no client counts as one of this machine, which the rate would spare.
const api = { hosts, trustedProxies: [trustedProxy], rateRequests: 1_000_000 }
const tuning = { node: { portBase: 0 }, storage: { dataDir }, api, network: { hosts, inbound: 64 } }
const node = await startNode({
  spec: parseSpec(readFileSync(spec, 'utf8')),
  env: systemEnv(log),
  peering: { port: 0 },
  validator: { key: Buffer.from(devnetValidatorKey(0).privateKey), resetSignState: 'now' },
  tuning,
})
const servers = await serve(node, { log, tuning })
const { network, transport } = node.network as NonNullable<typeof node.network>
const emitters = {
  chain: node.chain.events,
  pool: node.mempool.events,
  log: node.events.events,
  peers: network.peers.events,
  sync: network.sync.events,
  process,
}
let joined = 0
let peak = 0
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 100).unref()
network.peers.events.on('joined', () => joined++)

// The terminal's signal stops soak.ts, which stops this process.
process.on('SIGINT', () => {})
process.once('SIGTERM', () => void stop())
process.once('disconnect', () => void stop())
process.on('message', (question) => void sample(question === 'all').then((taken) => say({ sample: taken })))
const { rest, ws, rpc } = servers.ports
const at = (scheme: string, port: number) => `${scheme}://127.0.0.1:${port}`
say({ places: { rest: at('http', rest), ws: at('ws', ws), rpc: at('http', rpc), p2p: transport.addresses } })
await node.failure

async function sample(all: boolean): Promise<Sample> {
  const late = delay.max / 1e6
  // The sample itself must not be measured.
  delay.disable()
  const alive = all ? { AbortSignal: countOf(AbortSignal), EventTarget: countOf(EventTarget) } : undefined
  globalThis.gc?.()
  // Objects released by finalizers are garbage of the next collection.
  await setImmediate()
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const most = peak
  peak = 0
  delay.reset()
  delay.enable()
  return {
    heap: heapUsed,
    external,
    resident: rss,
    peak: most,
    late,
    handles: counted(process.getActiveResourcesInfo()),
    files: readdirSync('/proc/self/fd').length,
    listeners: Object.fromEntries(Object.entries(emitters).map(([name, emitter]) => [name, listenersOf(emitter)])),
    alive,
    height: node.chain.tip.header.height,
    peers: network.peers.all().length,
    joined,
  }
}

function countOf(kind: new (...args: never[]) => unknown): number {
  return queryObjects(kind as never, { format: 'count' }) as unknown as number
}

function listenersOf(emitter: Pick<EventEmitter, 'eventNames' | 'listenerCount'>): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0)
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function say(said: Said): void {
  // The receiver may be gone already; 'disconnect' reports that.
  process.send?.(said, undefined, undefined, () => {})
}

async function stop(): Promise<void> {
  await servers.close()
  await node.close()
  process.exit()
}

/** Fills caches that otherwise take hours or days to fill, so that later growth is no cache. */
function fillCaches(): void {
  fillDocuments()
  fillPages()
  const { add } = SignatureCache.prototype
  const filled = new WeakSet()
  SignatureCache.prototype.add = function (this: SignatureCache, checks) {
    add.call(this, checks)
    // Smaller ones serve one call.
    if (this.size < lasting || filled.has(this)) return
    filled.add(this)
    for (let size = 0; this.size > size;) {
      size = this.size
      add.call(this, fakeChecks(size))
    }
  }
  const { open } = EventLog
  EventLog.open = (options) => open.call(EventLog, { ...options, kept: 1000 })
}

/** Fills the cache of document facts with documents of usual size. */
function fillDocuments(): void {
  const { learn } = KnownDocuments.prototype
  const filled = new WeakSet()
  KnownDocuments.prototype.learn = function (this: KnownDocuments, state) {
    learn.call(this, state)
    if (filled.has(this)) return
    filled.add(this)
    for (let count = 0, bytes = 0; this.bytes > bytes; count++) {
      bytes = this.bytes
      learn.call(this, fakeState(count))
    }
  }
}

function fakeState(number: number): DidState {
  const documentTxid = number.toString(16).padStart(64, '0')
  const id = `did:ledger:${documentTxid.slice(-34)}`
  const authentication = new Map([[`${id}#primary`, documentTxid.slice(-33)]])
  const document = { id, authentication, authorization: new Map(), credentials: new Set() }
  return { documentTxid, documentPayloadSize: 500, document } as unknown as DidState
}

/** Fills the memories of pages that live as long as the node with pages that no block has. */
function fillPages(): void {
  const { keep } = PageMemory.prototype
  const kept = new WeakMap<PageMemory, number>()
  PageMemory.prototype.keep = function (this: PageMemory, key, page) {
    keep.call(this, key, page)
    const calls = (kept.get(this) ?? 0) + 1
    kept.set(this, calls)
    if (calls !== lasting) return
    for (let bits = 0; bits < 4096; bits++) {
      for (let version = 0; version < 3; version++) keep.call(this, pageKey(bits), fakePage())
    }
  }
}

/** The key of a page at depth 12. */
function pageKey(bits: number): Buffer {
  return Buffer.from([0x1a, 12, bits >> 4, (bits & 0xf) << 4])
}

function fakePage(): MapPage {
  return { hash: () => randomBytes(32), copy: () => ({ row: randomBytes(pageBytes) }) } as unknown as MapPage
}

function fakeChecks(from: number): SignatureCheck[] {
  const message = new Uint8Array(8)
  return Array.from({ length: 10_000 }, (_, i) => {
    const signature = new Uint8Array(64)
    new DataView(signature.buffer).setUint32(0, from + i)
    return checkOf(message, [new Uint8Array(33)], [signature])
  })
}
