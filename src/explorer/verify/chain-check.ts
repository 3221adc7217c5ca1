import { LightError } from '../../clients/light/light-error.js'
import type { LightResolver } from '../../clients/light/light-resolver.js'
import type { LightCredential, LightResult } from '../../clients/light/proved-answer.js'
import type { ResolvedTransaction } from '../../identity/did/resolution.js'
import { chainClock } from '../ask/chain-clock.js'
import { ask, nodeUrl } from '../ask/node-rpc.js'
import { codes, NodeGone, Refusal } from '../ask/refusal.js'
import { keepText, keptNames, keptText } from './kept.js'

/** Checks the node's answers about DIDs in the page: by a light resolver, which is loaded when the first DID is shown. */

/** A trust root, as far as pages read it. */
export interface TrustRoot {
  readonly chain: string
  readonly devnet: boolean
  /** Absent on a chain whose blocks are mined. */
  readonly validators?: readonly string[]
}

/** Trust of the page: the root that this node sent when this browser first came. */
export interface Believed {
  readonly root: TrustRoot
  /** Unix seconds. */
  readonly since: number
  /** Whether this browser trusted another chain at this address before. */
  readonly isOther: boolean
}

/** The part of that which is kept, below {@link rootName}. */
type KeptRoot = Pick<Believed, 'root' | 'since'>

/** An answer that was checked, with its proof as the node sent it. */
export interface Checked<T> {
  readonly result: T
  readonly believed: Believed
  readonly proof: unknown
}

/** Result of a check; `unproved`: the node sends no proof, `refused`: its proof does not hold. */
export type Outcome<T> =
  | { readonly state: 'proved'; readonly checked: Checked<T> }
  | { readonly state: 'unproved' | 'refused'; readonly failure: string; readonly text: string }

interface Checker {
  readonly light: LightResolver
  readonly believed: Believed
  /** The last ones, by what they are about. */
  readonly proofs: Map<string, unknown>
}

/** Names below which roots are kept, one for each chain. */
const rootName = 'didledger.root.'
/** Proofs that are remembered to be shown. */
const proofsKept = 16
/** Operations of a DID up to which all of them are checked with their documents, and not the last one alone. */
const documentsChecked = 50
/** Failures that follow when a devnet goes back or begins anew: its keys are public, so that they prove nothing. */
const ofDevnet: readonly string[] = ['rollback', 'contradiction', 'fork']

let checker: Promise<Checker> | undefined

/**
 * The state of a DID with its history, and the transactions that were proved, newest first: all of them, or of a long history the
 * last one and the last document. How many there are is proved as well. Rejects where the node is gone.
 */
export function checkDid(did: string): Promise<Outcome<LightResult>> {
  return outcomeOf(did, async (light) => {
    const newest = await light.resolve(did, { history: true })
    const { count = 0, entries = [] } = newest.proved.history ?? {}
    if (count < 2) return newest
    if (count <= documentsChecked) return unlessPruned(light.resolve(did, { all: true, history: true }), newest)
    const before = entries.at(-2)
    if (newest.status !== 2 || before === undefined) return newest
    const { transaction = [] } = await light.resolve(did, { versionId: before.txid, history: true })
    return { ...newest, transaction: [...(newest.transaction ?? []), ...transaction] }
  })
}

/** The proof of all operations; of a node that lacks the transactions of old ones that of the last one, with the entries of all. */
async function unlessPruned<T>(all: Promise<T>, newest: T): Promise<T> {
  try {
    return await all
  } catch (error) {
    if (error instanceof Refusal && error.code === codes.pruned) return newest
    throw error
  }
}

/** The transactions of one version of a DID: one, or none where the DID has no such version. */
export function checkVersion(did: string, versionId: string): Promise<Outcome<readonly ResolvedTransaction[]>> {
  return outcomeOf(`${did} ${versionId}`, async (light) => {
    const { transaction = [] } = await light.resolve(did, { versionId, history: true })
    return transaction
  })
}

/** The state of a credential by its id; likewise. */
export function checkCredential(id: string): Promise<Outcome<LightCredential>> {
  return outcomeOf(id, (light) => light.resolveCredential(id))
}

async function outcomeOf<T>(about: string, prove: (light: LightResolver) => Promise<T>): Promise<Outcome<T>> {
  try {
    return { state: 'proved', checked: await checked(about, prove) }
  } catch (error) {
    if (error instanceof Refusal) {
      return { state: 'unproved', failure: 'proof-unavailable', text: error.detail || error.message }
    }
    if (!(error instanceof LightError)) throw error
    // What was proved before stays: it holds as of its block.
    if (error.failure === 'unreachable') throw new NodeGone(error.message)
    const state = error.failure === 'proof-missing' ? 'unproved' : 'refused'
    return { state, failure: error.failure, text: error.message }
  }
}

async function checked<T>(
  about: string,
  prove: (light: LightResolver) => Promise<T>,
  isSecond = false,
): Promise<Checked<T>> {
  const { light, believed, proofs } = await (checker ??= opened())
  try {
    return { result: await prove(light), believed, proof: proofs.get(about) }
  } catch (error) {
    const isOther = believed.root.devnet && error instanceof LightError && ofDevnet.includes(error.failure)
    if (!isOther || isSecond) throw error
    checker = undefined
    return checked(about, prove, true)
  }
}

async function opened(): Promise<Checker> {
  try {
    const root = await ask<TrustRoot>('light_trust')
    const { LightResolver } = await import('../../clients/light/light-resolver.js')
    const name = `${rootName}${root.chain}`
    const kept = parsedRoot(keptText(name))
    const keep = kept ?? { root, since: Math.floor(Date.now() / 1000) }
    const believed = { ...keep, isOther: hasEarlier(keep) }
    const { devnet } = believed.root
    const proofs = new Map<string, unknown>()
    const state = `didledger.light.${root.chain}`
    const light = new LightResolver({
      servers: [nodeUrl('.').href],
      trust: believed.root,
      // The root is as old as the chain, or as the first visit; the page says since when it is believed.
      allowOldRoot: true,
      // The node says how far the clock of a devnet was moved: no other chain may move this machine's.
      now: () => Date.now() + (devnet ? chainClock.offset * 1000 : 0),
      fetch: (url, init) => noting(proofs, url, init),
      ...(!devnet && { load: () => keptText(state), save: (text) => keepText(state, text) }),
    })
    // Kept from here on, where it is known to be a root.
    if (kept === undefined) keepText(name, JSON.stringify(keep))
    return { light, believed, proofs }
  } catch (error) {
    checker = undefined
    throw error
  }
}

/** The root of a chain that this browser saw first. Undefined for what is none, however it came there. */
function parsedRoot(kept: string | undefined): KeptRoot | undefined {
  try {
    const believed = JSON.parse(kept ?? '') as KeptRoot | null
    return typeof believed?.root === 'object' ? believed : undefined
  } catch {
    return undefined
  }
}

/** Whether the root of another chain was kept before; those of devnets come and go. */
function hasEarlier({ root, since }: KeptRoot): boolean {
  const roots = keptNames(rootName).map((name) => parsedRoot(keptText(name)))
  return roots.some(
    (other) => other !== undefined && !other.root.devnet && other.root.chain !== root.chain && other.since < since,
  )
}

/** Fetches, and remembers the proof in an answer of JSON-RPC by what was asked. */
async function noting(proofs: Map<string, unknown>, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, cache: 'no-store' })
  const text = await response.text()
  const about = typeof init.body === 'string' ? subjectOf(init.body) : undefined
  if (about !== undefined) {
    if (proofs.size >= proofsKept) proofs.clear()
    proofs.set(about, proofIn(text))
  }
  return new Response(text, { status: response.status, headers: response.headers })
}

/** The DID, version or credential in a call; undefined for other calls. */
function subjectOf(body: string): string | undefined {
  const { params } = JSON.parse(body) as { params: { did?: string; id?: string; versionId?: string } }
  const { did, id, versionId } = params
  return did !== undefined && versionId !== undefined ? `${did} ${versionId}` : (did ?? id)
}

function proofIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { result?: { proof?: unknown } | null } | null)?.result?.proof
  } catch {
    // The check says what is wrong with it.
    return undefined
  }
}
