import { parseDate } from '../../identity/did/date.js'
import type { ResolveOptions } from '../../identity/did/resolution.js'
import type { ProofOptions } from '../../identity/did/state-proof.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { WantedBlock } from '../prover/prover.js'
import { historyLimits } from './history-limits.js'

/** Which version of a DID is asked for; absent: the last one. */
export type VersionRequest = { readonly value: string | number } & (
  | { readonly by: 'id'; readonly txid: Hash }
  | { readonly by: 'time'; readonly seconds: number }
  | { readonly by: 'height'; readonly height: number }
)

/** A part of a history, newest first; `limit` is not above its maximum. */
export interface Slice {
  readonly skip: number
  readonly limit: number
}

/** How an answer is proved, and as of which block. */
export interface ProofRequest extends WantedBlock {
  /** Whether by all operations. */
  readonly history: boolean
}

/** Options of a request about a DID, checked. */
export type ResolveRequest = { readonly context: boolean; readonly proof: ProofRequest | undefined } & (
  | {
      readonly all: false
      readonly version: VersionRequest | undefined
      /** Whether the last document is wanted beside a deactivation. */
      readonly withDocument: boolean
    }
  | { readonly all: true; readonly slice: Slice | undefined }
)

const versions = ['versionId', 'versionTime', 'versionHeight'] as const
/** @limit number: height in a request for a version */
const maxVersionHeight = 0xffffffff

/** Checks the options of a request; `request-parameter` for values that they cannot have, and for those that exclude each other. */
export function readResolveRequest(options: ResolveOptions, withDocument = false): ResolveRequest {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'an object is needed')
  const { all = false, context = false, skip, limit } = options
  if (typeof all !== 'boolean') throw wrong('all', 'true or false is needed')
  if (typeof context !== 'boolean') throw wrong('context', 'true or false is needed')
  const proof = readProofRequest(options)
  const given = versions.filter((name) => options[name] !== undefined)
  if (all) {
    if (given[0] !== undefined) throw wrong(given[0], 'only with all: false; a history has every version')
    return { all, context, proof, slice: sliceOf(skip, limit) }
  }
  if (skip !== undefined || limit !== undefined) throw wrong('skip, limit', 'only with all: true')
  if (given.length > 1) throw wrong(given.join(', '), 'at most one of them names a version')
  return { all, context, proof, version: given.length === 0 ? undefined : versionOf(options), withDocument }
}

/** How an answer is to be proved; undefined: it is not. */
export function readProofRequest({ proof, depth, height }: ProofOptions): ProofRequest | undefined {
  if (proof === undefined) {
    if (depth !== undefined || height !== undefined) throw wrong('depth, height', 'only with proof')
    return undefined
  }
  if (proof !== true && proof !== 'history') throw wrong('proof', 'true or "history" is needed')
  return { history: proof === 'history', ...readWantedBlock({ depth, height }) }
}

/** The block as of which is proved; `request-parameter` for numbers that no block has. */
export function readWantedBlock({ depth, height }: WantedBlock): WantedBlock {
  if (depth !== undefined && height !== undefined) throw wrong('depth, height', 'at most one of them names a block')
  requireHeight('depth', depth)
  requireHeight('height', height)
  return { depth, height }
}

function requireHeight(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= maxVersionHeight)) return
  throw wrong(name, `an integer from 0 to ${maxVersionHeight} is needed`)
}

function sliceOf(skip: number | undefined, limit: number | undefined): Slice | undefined {
  if (skip === undefined && limit === undefined) return undefined
  const { sliceUnasked, slice } = historyLimits
  const [from, most] = [skip ?? 0, limit ?? sliceUnasked]
  if (!Number.isSafeInteger(from) || from < 0) throw wrong('skip', 'a non-negative integer is needed')
  if (!Number.isSafeInteger(most) || most < 0) throw wrong('limit', 'a non-negative integer is needed')
  if (most > slice) throw wrong('limit', `at most ${slice} operations are given at once, not ${most}`)
  return { skip: from, limit: most }
}

function versionOf({ versionId, versionTime, versionHeight }: ResolveOptions): VersionRequest {
  if (versionId !== undefined) {
    const txid = /^[0-9a-f]{64}$/.test(versionId) ? parseDisplayHash(versionId) : undefined
    if (txid === undefined) throw wrong('versionId', 'a version is a txid, 64 lowercase hex digits')
    return { by: 'id', txid, value: versionId }
  }
  if (versionTime !== undefined) {
    const seconds = parseDate(versionTime)
    if (seconds === undefined) throw wrong('versionTime', 'a real date YYYY-MM-DDTHH:MM:SSZ is needed')
    return { by: 'time', seconds, value: versionTime }
  }
  const height = versionHeight as number
  if (Number.isInteger(height) && height >= 0 && height <= maxVersionHeight)
    return { by: 'height', height, value: height }
  throw wrong('versionHeight', `a height is an integer from 0 to ${maxVersionHeight}`)
}

function wrong(name: string, what: string): RuleError {
  return new RuleError('request-parameter', `${name}: ${what}`)
}
