import { parseDate } from '../did/date.js'
import { isDid } from '../did/identifier.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { ProvedHistory } from './map-proof.js'
import { fail } from './proof-failure.js'
import { flag, hexText, type Members, text, whole } from './read-json.js'
import { chainIds } from '../did/chain-ids.js'

/** Questions about a DID: each of their parameters is one that an answer is held against. */

/** A question about a DID; at most one of `all`, `versionId` and `versionTime`. */
export interface DidQuestion {
  /** In full. */
  readonly did: string
  /** Every version. */
  readonly all?: boolean | undefined
  /** Txid in display hex. */
  readonly versionId?: string | undefined
  /** A date of documents. */
  readonly versionTime?: string | undefined
  /** As of the block of this height. */
  readonly height?: number | undefined
  /** By all entries of the history, whatever is shown of it. */
  readonly history?: boolean | undefined
}

/** A DID in full, or its identifier alone, as a DID in full; `form` for a text that can be none, such as one whose checksum is wrong. */
export function fullDid(sent: unknown): string {
  const given = text(sent)
  const did = given.startsWith('did:') ? given : `did:${didMethod}:${given}`
  // Another text has a leaf of its own, of which nothing is ever written: a mistyped DID would be proved not to exist.
  // A name is one on every chain: on those that take none yet it is proved not to exist.
  return isDid(did, chainIds)
    ? did
    : fail('form', `no DID of a chain: ${given.slice(0, 300)}; is a character mistyped?`)
}

/** Reads the parameters of a question about a DID; `form` for values that they cannot have, and for a parameter that is not known. */
export function readDidQuestion(asked: Members): DidQuestion {
  const { did, all, versionId, versionTime, height, history, ...others } = asked
  requireKnown(others)
  const question = {
    did: fullDid(did),
    ...defined({
      all: all === undefined ? undefined : flag(all),
      versionId: versionId === undefined ? undefined : hexText(versionId, 32),
      versionTime: versionTime === undefined ? undefined : dateText(versionTime),
      height: height === undefined ? undefined : whole(height),
      history: history === undefined ? undefined : flag(history),
    }),
  }
  const versions = [question.all === true, question.versionId !== undefined, question.versionTime !== undefined]
  if (versions.filter(Boolean).length > 1)
    fail('form', 'at most one of all, versionId and versionTime can be asked for')
  return question
}

/** Throws `form` for any parameter that is left: an answer that ignores it would be misread. */
export function requireKnown(others: Members): void {
  const unknown = Object.keys(others).find((name) => others[name] !== undefined)
  if (unknown !== undefined)
    fail('form', `the question has a parameter that is not known here: ${unknown.slice(0, 80)}`)
}

function dateText(sent: unknown): string {
  const value = text(sent)
  return parseDate(value) === undefined ? fail('form', `no date: ${value.slice(0, 80)}`) : value
}

/** Whether one version is asked for, and not the last one or all. */
export function asksVersion({ all, versionId, versionTime }: DidQuestion): boolean {
  return all !== true && (versionId !== undefined || versionTime !== undefined)
}

/** The place of the version in the entries given: the one named, or the last one not later; -1: none. */
export function versionIn({ entries }: ProvedHistory, { versionId, versionTime }: DidQuestion): number {
  if (versionId !== undefined) return entries.findIndex(({ txid }) => displayHash(txid) === versionId)
  const latest = parseDate(versionTime ?? '') ?? -1
  return entries.reduce((found, { time }, place) => (time <= latest ? place : found), -1)
}
