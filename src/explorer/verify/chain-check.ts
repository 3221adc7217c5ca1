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
  | {
      readonly state: 'unproved' | 'refused'
      readonly failure: string
      readonly text: string
      /** Whether the node refused because it does not have what was asked for. */
      readonly isPruned?: boolean
    }

interface Checker {
  readonly light: LightResolver
  readonly believed: Believed
  /** The last ones, by what they are about. */
  readonly proofs: Map<string, unknown>
  /** Subjects that the node refused as `pruned` when it was asked last. */
  readonly lacking: Set<string>
}

/** Names below which roots are kept, one for each chain. */
const rootName = 'didledger.root.'
/** Proofs that are remembered to be shown. */
const proofsKept = 16
/** Operations of a DID up to which all of them are checked with their documents, and not the last one alone. */
const documentsChecked = 50
/** Failures that follow when a devnet goes back, begins anew, or gives its port to another chain: its keys are public, so that they prove nothing. */
const ofDevnet: readonly string[] = ['rollback', 'contradiction', 'fork', 'chain']

let checker: Promise<Checker> | undefined

/**
 * The state of a DID with its history, and the transactions that were proved, newest first: all of them, or of a long history the
 * last one and the last document. How many there are is proved as well. Rejects where the node is gone.
 */
export function checkDid(did: string): Promise<Outcome<LightResult>> {
  return outcomeOf(did, async (light, isLacking) => {
    const newest = await light.resolve(did, { history: true })
    const { count = 0, entries = [] } = newest.proved.history ?? {}
    if (count < 2) return newest
    const isShort = count <= documentsChecked
    const all = isShort ? await unlessLacking(light.resolve(did, { all: true, history: true }), isLacking) : undefined
    if (all !== undefined) return all
    const before = entries.at(-2)
    if (newest.status !== 2 || before === undefined) return newest
    const { transaction = [] } = await light.resolve(did, { versionId: before.txid, history: true })
    return { ...newest, transaction: [...(newest.transaction ?? []), ...transaction] }
  })
}

/** An answer; undefined of a node that does not have all of what was asked for. */
async function unlessLacking<T>(answer: Promise<T>, isLacking: () => boolean): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof LightError && isLacking()) return undefined
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

/** Makes a proof; `isLacking`: whether the node does not have what it was asked for last. */
type Prove<T> = (light: LightResolver, isLacking: () => boolean) => Promise<T>

async function outcomeOf<T>(about: string, prove: Prove<T>): Promise<Outcome<T>> {
  try {
    return { state: 'proved', checked: await checked(about, prove) }
  } catch (error) {
    if (error instanceof Refusal) {
      const isPruned = error.code === codes.pruned
      return { state: 'unproved', failure: 'proof-unavailable', text: error.detail || error.message, isPruned }
    }
    if (!(error instanceof LightError)) throw error
    // What was proved before stays: it holds as of its block.
    if (error.failure === 'unreachable') throw new NodeGone(error.message)
    const state = error.failure === 'proof-missing' ? 'unproved' : 'refused'
    return { state, failure: error.failure, text: error.message }
  }
}

async function checked<T>(about: string, prove: Prove<T>, isSecond = false): Promise<Checked<T>> {
  const { light, believed, proofs, lacking } = await (checker ??= opened())
  const isLacking = () => lacking.has(about)
  try {
    return { result: await prove(light, isLacking), believed, proof: proofs.get(about) }
  } catch (error) {
    if (error instanceof LightError && isLacking()) throw new Refusal(codes.pruned, error.message, '')
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
    const noted = { proofs: new Map<string, unknown>(), lacking: new Set<string>() }
    const state = `didledger.light.${root.chain}`
    const light = new LightResolver({
      servers: [nodeUrl('.').href],
      trust: believed.root,
      // The root is as old as the chain, or as the first visit; the page says since when it is believed.
      allowOldRoot: true,
      // The node says how far the clock of a devnet was moved: no other chain may move this machine's.
      now: () => Date.now() + (devnet ? chainClock.offset * 1000 : 0),
      fetch: (url, init) => noting(noted, url, init),
      ...(!devnet && { load: () => keptText(state), save: (text) => keepText(state, text) }),
    })
    // Kept from here on, where it is known to be a root.
    if (kept === undefined) keepText(name, JSON.stringify(keep))
    return { light, believed, ...noted }
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

/** Fetches, and remembers of an answer of JSON-RPC its proof, or that the node lacks it, by what was asked. */
async function noting(
  { proofs, lacking }: Pick<Checker, 'proofs' | 'lacking'>,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(url, { ...init, cache: 'no-store' })
  const text = await response.text()
  const about = typeof init.body === 'string' ? subjectOf(init.body) : undefined
  if (about !== undefined) {
    const { proof, isPruned } = answerIn(text)
    if (proofs.size >= proofsKept) proofs.clear()
    if (proof !== undefined) proofs.set(about, proof)
    if (lacking.size >= proofsKept) lacking.clear()
    if (isPruned) lacking.add(about)
    else lacking.delete(about)
  }
  return new Response(text, { status: response.status, headers: response.headers })
}

/** The DID, version or credential in a call; undefined for other calls. */
function subjectOf(body: string): string | undefined {
  const { params } = JSON.parse(body) as { params: { did?: string; id?: string; versionId?: string } }
  const { did, id, versionId } = params
  return did !== undefined && versionId !== undefined ? `${did} ${versionId}` : (did ?? id)
}

interface Sent {
  readonly result?: { readonly proof?: unknown } | null
  readonly error?: { readonly code?: unknown } | null
}

function answerIn(text: string): { readonly proof?: unknown; readonly isPruned: boolean } {
  try {
    const sent = JSON.parse(text) as Sent | null
    return { proof: sent?.result?.proof, isPruned: sent?.error?.code === codes.pruned }
  } catch {
    // The check says what is wrong with it.
    return { isPruned: false }
  }
}
