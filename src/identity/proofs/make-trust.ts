import { encodeBase64url } from '../did/base64url.js'
import { displayHash, toHex } from '../../base/primitives/bytes.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { keepsMap, paramsAt, type Spec } from '../../base/primitives/spec.js'
import { checkpointFormat, trustFormat } from './trust-root.js'

/** Trust roots in the form in which nodes publish them: from the spec of a chain, or from one of its blocks. */

/** A Trust as JSON; the chain in display hex, the header in base64url, ages in seconds. */
export interface TrustJson {
  readonly format: typeof trustFormat
  readonly chain: string
  readonly header: string
  readonly devnet: boolean
  /** Those of block 1, in duty order, in hex. */
  readonly validators?: readonly string[]
  readonly powLimitBits?: number
  readonly retarget?: { readonly interval: number; readonly spacing: number }
  readonly auxpowChainId?: number
  readonly maxAge: number
  readonly maxDrift: number
}

/** A Checkpoint as JSON: chain and hash in display hex, the hash of the next validators in hex. */
export interface CheckpointJson {
  readonly format: typeof checkpointFormat
  readonly chain: string
  readonly height: number
  readonly hash: string
  /** On a chain with validators. */
  readonly keysHash?: string
}

/** Seconds that a proposal, its votes and the way of a block take at most, besides those in the spec. */
const transport = 30
/** Blocks of miners that may fail to come before a chain counts as old. */
const missedBlocks = 12

/** Returns the parts of a spec that a checker needs; undefined if no block of the chain commits to the state of all DIDs. */
export function trustOf(spec: Spec): TrustJson | undefined {
  if (!keepsMap(spec)) return undefined
  const { header, hash: chain } = genesisBlock(spec)
  const { powLimitBits, retarget, auxpowChainId } = spec
  return {
    format: trustFormat,
    chain,
    header: encodeBase64url(header.bytes),
    devnet: spec.devnet,
    ...(spec.hasValidators
      ? { validators: paramsAt(spec, 1).validators.map(toHex) }
      : { powLimitBits, retarget, auxpowChainId }),
    maxAge: maxAgeOf(spec),
    maxDrift: Math.ceil(spec.timing.maxDrift / 1000),
  }
}

/** Returns the seconds within which an advancing chain has a newer block. */
function maxAgeOf({ producer, timing, maxViewTimeout, retarget }: Spec): number {
  if (producer === 'miners') return missedBlocks * retarget.spacing
  return Math.ceil((timing.emptyInterval + maxViewTimeout + timing.maxDrift) / 1000) + transport
}

/** The Checkpoint of a block; `nextKeys`: entry 03 of its coinbase, on a chain with validators. */
export function checkpointOf(chain: Hash, { height, id }: Header, nextKeys: Hash | undefined): CheckpointJson {
  return {
    format: checkpointFormat,
    chain: displayHash(chain),
    height,
    hash: id,
    ...(nextKeys && { keysHash: toHex(nextKeys) }),
  }
}
