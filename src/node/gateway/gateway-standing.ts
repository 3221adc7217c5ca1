import type { Spec } from '../../base/primitives/spec.js'
import type { Standing } from '../../answers/resolver/standing.js'
import type { NodeHealth } from '../../answers/api/node-handles.js'
import { tipPatience } from '../standing/pace.js'
import { lateBehindTip, type StepPolicy } from '../standing/in-step.js'
import type { NodesWord } from './asked-nodes.js'

/** @tuning count: blocks by which a node may be ahead of a gateway that is in step: those on their way to the shards */
const blocksAhead = 3

/** Beside the pace of the chain: for a node to ship a block, and an engine to take it. */
const shippingTime = 60_000

export interface GatewayFacts {
  readonly spec: Pick<Spec, 'devnet' | 'timing' | 'maxViewTimeout' | 'producer' | 'retarget' | 'hasValidators'>
  /** The tip of the rows, its time in Unix seconds. */
  readonly tip: { readonly height: number; readonly time: number }
  /** Unix milliseconds. */
  readonly now: number
  /** The rows: seconds since a node was at all shards, and what is wrong with these now. */
  readonly rows: { readonly age: number; readonly fault: string | undefined }
  /** Words of the nodes that the gateway was given; undefined: none answers. */
  readonly nodes: NodesWord | undefined
}

/**
 * Decides whether a gateway is in step: a node that it was given says so of itself, its rows reach the tips of all of them, its tip is
 * recent, and a node has written to the shards lately, as each does every ten seconds. A node that cannot be reached does not count: another
 * one may ship the rows. Where none can, the age of the tip decides alone, and the genesis block is never young.
 */
export function gatewayStanding(facts: GatewayFacts, { staleAfter, always }: StepPolicy): Standing {
  const { tip, now } = facts
  const age = Math.max(0, Math.floor(now / 1000) - tip.time)
  const { height } = tip
  const ahead = blocksLack(facts)
  if (ahead !== undefined) {
    return { height, age, inStep: false, reason: 'behind', missing: ahead, answers: always ? 'all' : 'none' }
  }
  const late = facts.spec.devnet ? undefined : lateBehindTip(facts)
  if (late !== undefined) return { height, age, inStep: false, ...late, answers: always ? 'all' : 'none' }
  const old = lackOf(facts, age)
  const missing = old ?? wordLack(facts)
  // Written out: every request asks several times, and copies of objects were a tenth of its time.
  if (missing === undefined) return { height, age, inStep: true }
  const reason = old === undefined ? 'alone' : 'old'
  const answers = always ? 'all' : age * 1000 <= staleAfter ? 'found' : 'none'
  return { height, age, inStep: false, reason, missing, answers }
}

/** Returns a getter of the current standing. It keeps the last one while the facts are equal: each request reads it several times. */
export function standingOf(policy: StepPolicy, factsNow: () => GatewayFacts): () => Standing {
  let known: { readonly facts: GatewayFacts; readonly standing: Standing } | undefined
  return () => {
    const facts = factsNow()
    if (known === undefined || !sameFacts(known.facts, facts))
      known = { facts, standing: gatewayStanding(facts, policy) }
    return known.standing
  }
}

/** Whether facts give the same standing, which knows no less than seconds. */
function sameFacts(a: GatewayFacts, b: GatewayFacts): boolean {
  const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)
  return (
    a.tip === b.tip &&
    a.nodes === b.nodes &&
    seconds(a.now) === seconds(b.now) &&
    a.rows.fault === b.rows.fault &&
    // Whole seconds are shown; whether it is too much is decided exactly.
    Math.floor(a.rows.age) === Math.floor(b.rows.age) &&
    a.rows.age * 1000 > shippingTime === b.rows.age * 1000 > shippingTime
  )
}

/** Progress towards the nodes; undefined: none answers. */
export function progressOf(height: number, nodes: NodesWord | undefined): NodeHealth['sync'] {
  if (nodes === undefined) return undefined
  const catchingUp = nodes.catchingUp || isBehind(height, nodes.height)
  return { catchingUp, height, target: Math.max(height, nodes.target) }
}

/** Whether a gateway at a height lacks more than the blocks on their way to the shards. */
function isBehind(height: number, best: number): boolean {
  return best > height + blocksAhead
}

/** Blocks that a node has, or lacks itself. */
function blocksLack({ tip: { height }, nodes }: GatewayFacts): string | undefined {
  if (nodes === undefined) return undefined
  if (isBehind(height, nodes.height)) {
    return `a node is at height ${nodes.height}, and its blocks have not come to the shards`
  }
  if (!nodes.catchingUp) return undefined
  return `no node that answers is in step itself: it is at height ${nodes.height} of ${nodes.target}, and catching up`
}

/** The word of a node that it is in step. */
function wordLack({ nodes }: GatewayFacts): string | undefined {
  return nodes === undefined || nodes.inStep ? undefined : 'no node that answers says that it is in step itself'
}

function lackOf({ spec, tip, rows, nodes }: GatewayFacts, age: number): string | undefined {
  if (rows.fault !== undefined) return rows.fault
  if (rows.age * 1000 > shippingTime) return `no node has been at the shards for ${Math.floor(rows.age)} s`
  // A node in step may be the first of its chain.
  if (nodes === undefined && tip.height === 0 && !spec.devnet)
    return 'no block has followed the genesis block in the rows'
  // A devnet makes blocks when it is asked.
  const isOld = !spec.devnet && age * 1000 > tipPatience(spec) + shippingTime
  return isOld ? 'no block has been shipped since' : undefined
}
