import { LightError } from '../../light/light-error.js'
import type { LightResolver } from '../../light/light-resolver.js'
import type { LightCredential, LightResult } from '../../light/proved.js'
import { chainClock } from '../ask/chain-clock.js'
import { ask, nodeUrl } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import { keptText, keepText } from './kept.js'

/** Checks in the page what the node says of DIDs: by a light resolver, which is loaded when the first DID is shown. */

/** A trust root, as far as pages read it. */
export interface TrustRoot {
  readonly chain: string
  readonly devnet: boolean
  /** Absent on a chain whose blocks are mined. */
  readonly validators?: readonly string[]
}

/** What the page believes: what this node said of the chain when this browser first came. */
export interface Believed {
  readonly root: TrustRoot
  /** Unix seconds. */
  readonly since: number
}

/** An answer that was checked, with its proof as the node sent it. */
export interface Checked<T> {
  readonly result: T
  readonly believed: Believed
  readonly proof: unknown
}

/** What a check came to; `unproved`: the node gives no proof, `refused`: the one that it gave does not hold. */
export type Outcome<T> =
  | { readonly state: 'proved'; readonly checked: Checked<T> }
  | { readonly state: 'unproved' | 'refused'; readonly failure: string; readonly text: string }

interface Checker {
  readonly light: LightResolver
  readonly believed: Believed
  /** The last ones, by what they are about. */
  readonly proofs: Map<string, unknown>
}

/** Proofs that are remembered to be shown. */
const proofsKept = 16
/** Failures that follow when a devnet goes back or begins anew: its keys are public, so that they say nothing. */
const ofDevnet: readonly string[] = ['rollback', 'fork']

let checker: Promise<Checker> | undefined

/** The state of a DID, with every operation and with the documents of all where `all`. Rejects where the node is gone. */
export function checkDid(did: string, all: boolean): Promise<Outcome<LightResult>> {
  return outcomeOf(did, (light) => light.resolve(did, { all, history: true }))
}

/** The state of a credential by its id; likewise. */
export function checkCredential(id: string): Promise<Outcome<LightCredential>> {
  return outcomeOf(id, (light) => light.resolveCredential(id))
}

async function outcomeOf<T>(about: string, prove: (light: LightResolver) => Promise<T>): Promise<Outcome<T>> {
  try {
    return { state: 'proved', checked: await checked(about, prove) }
  } catch (error) {
    if (error instanceof Refusal) return { state: 'unproved', failure: 'proof-unavailable', text: error.detail }
    if (!(error instanceof LightError) || error.failure === 'unreachable') throw error
    const state = error.failure === 'proof-missing' ? 'unproved' : 'refused'
    return { state, failure: error.failure, text: error.message }
  }
}

async function checked<T>(about: string, prove: (light: LightResolver) => Promise<T>): Promise<Checked<T>> {
  const { light, believed, proofs } = await (checker ??= opened())
  try {
    return { result: await prove(light), believed, proof: proofs.get(about) }
  } catch (error) {
    const isOther = believed.root.devnet && error instanceof LightError && ofDevnet.includes(error.failure)
    if (!isOther) throw error
    checker = undefined
    return checked(about, prove)
  }
}

async function opened(): Promise<Checker> {
  try {
    const root = await ask<TrustRoot>('light_trust')
    const { LightResolver } = await import('../../light/light-resolver.js')
    const believed = believedRoot(root)
    const proofs = new Map<string, unknown>()
    const name = `didledger.light.${root.chain}`
    const light = new LightResolver({
      servers: [nodeUrl('.').href],
      trust: believed.root,
      // The root is as old as the chain, or as the first visit; the page says since when it is believed.
      allowOldRoot: true,
      now: () => Date.now() + chainClock.offset * 1000,
      fetch: (url, init) => noting(proofs, url, init),
      ...(!root.devnet && { load: () => keptText(name), save: (state) => keepText(name, state) }),
    })
    return { light, believed, proofs }
  } catch (error) {
    checker = undefined
    throw error
  }
}

/** The root of a chain that this browser saw first. */
function believedRoot(root: TrustRoot): Believed {
  const name = `didledger.root.${root.chain}`
  const kept = parsedRoot(keptText(name))
  if (kept !== undefined) return kept
  const believed = { root, since: Math.floor(Date.now() / 1000) }
  keepText(name, JSON.stringify(believed))
  return believed
}

/** Undefined for what is none, however it came there. */
function parsedRoot(kept: string | undefined): Believed | undefined {
  try {
    return JSON.parse(kept ?? '') as Believed
  } catch {
    return undefined
  }
}

/** Fetches, and remembers the proof in an answer of JSON-RPC. */
async function noting(proofs: Map<string, unknown>, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, cache: 'no-store' })
  const text = await response.text()
  const about = /"result":\{"(?:did|id)":("[^"]*")/.exec(text)
  if (about?.[1] !== undefined) {
    if (proofs.size >= proofsKept) proofs.clear()
    const { result } = JSON.parse(text) as { result: { proof?: unknown } }
    proofs.set(JSON.parse(about[1]) as string, result.proof)
  }
  return new Response(text, { status: response.status, headers: response.headers })
}
