import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { fail } from './proof-failure.js'
import {
  base64,
  displayHashText,
  flag,
  hashText,
  headerText,
  members,
  number,
  requireFormat,
  whole,
} from './read-json.js'
import type { RetargetRules } from './retarget.js'
import { keyTexts, validatorKeys } from './validator-list.js'

/** Trust roots: the beginning of a chain, or one later block of it. */

export const trustFormat = 'didledger/trust/1'
export const checkpointFormat = 'didledger/checkpoint/1'

/** How the work of a chain is judged. */
export interface WorkRules extends RetargetRules {
  readonly auxpowChainId: number
}

/** Parts of the spec of a chain that a checker needs. */
export interface Trust {
  /** Hash of the genesis block, internal order. */
  readonly chain: Hash
  /** Its header, from whose time the age of a root in genesis follows. */
  readonly header: Header
  /** A chain with a virtual clock, whose keys are public. */
  readonly devnet: boolean
  /** Who confirms block 1; undefined on a chain without validators. */
  readonly validators: readonly Uint8Array[] | undefined
  /** On a chain without validators. */
  readonly work: WorkRules | undefined
  /** Seconds that the newest block of a chain is old at most. */
  readonly maxAge: number
  /** Seconds that its time is ahead at most. */
  readonly maxDrift: number
}

/** A trusted block. */
export interface Checkpoint {
  readonly height: number
  /** Internal order. */
  readonly hash: Hash
  /** Entry 03 of its coinbase, on a chain with validators. */
  readonly keysHash: Hash | undefined
}

/** Reads a Trust; `form`, and `chain` for a header that is not that of its chain. */
export function readTrust(sent: unknown): Trust {
  const { format, chain, header: encoded, devnet, validators, maxAge, maxDrift, ...work } = members(sent, 'a trust')
  requireFormat(format, trustFormat)
  const header = headerText(base64(encoded)) ?? fail('form', 'the header of genesis is missing')
  const trust = {
    chain: displayHashText(chain),
    header,
    devnet: flag(devnet),
    maxAge: seconds(maxAge),
    maxDrift: seconds(maxDrift),
  }
  if (!equalBytes(header.hash, trust.chain) || header.height !== 0) fail('chain', 'the header is not that of genesis')
  if (validators === undefined) return { ...trust, validators, work: readWork(work) }
  return { ...trust, validators: validatorKeys(keyTexts(validators), 'form'), work: undefined }
}

function seconds(sent: unknown): number {
  const value = number(sent)
  return value >= 0 ? value : fail('form', `${value} seconds`)
}

function readWork({ powLimitBits, retarget, auxpowChainId }: Readonly<Record<string, unknown>>): WorkRules {
  const { interval, spacing } = members(retarget, 'the retarget')
  const rules = { interval: whole(interval), spacing: whole(spacing) }
  if (rules.interval < 2 || rules.spacing < 1) fail('form', 'the retarget')
  return { powLimitBits: whole(powLimitBits), retarget: rules, auxpowChainId: whole(auxpowChainId) }
}

/** Reads a Checkpoint of a chain; `form` and `chain`. */
export function readCheckpoint(sent: unknown, { chain: genesis, validators }: Trust): Checkpoint {
  const { format, chain, height, hash, keysHash } = members(sent, 'a checkpoint')
  requireFormat(format, checkpointFormat)
  const checkpoint = {
    height: whole(height),
    hash: displayHashText(hash),
    keysHash: validators === undefined ? undefined : hashText(keysHash),
  }
  return equalBytes(displayHashText(chain), genesis) ? checkpoint : fail('chain', 'the checkpoint is of another chain')
}
