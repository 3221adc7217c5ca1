import { RuleError } from '../../base/errors/rule-error.js'
import { type AuxPow, maxAuxPowSize } from '../../base/primitives/auxpow.js'
import { readFullHeader } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { decodeAll } from '../../base/primitives/codec.js'
import { targetOf, validTarget, workOf } from '../../base/primitives/compact.js'
import { type Header, headerSize } from '../../base/primitives/header.js'
import { formatDate } from '../did/date.js'
import { checkProofOfWork } from './auxpow-proof.js'
import { fail, ProofError } from './proof-failure.js'
import { base64, bytesOf, list } from './read-json.js'
import { medianSpan, medianTime, requiredBits } from './retarget.js'
import type { WorkRules } from './trust-root.js'

/** Headers of a chain without validators, from genesis or a checkpoint on: each with its work. */

/** @limit count: headers in one answer */
export const maxHeaders = 2000
/** @limit bytes: a header with its AuxPow */
const maxFullHeader = headerSize + maxAuxPowSize + 1
/** @limit s: time of a header ahead of the clock */
const maxAhead = 2 * 60 * 60

/** A header and the work on it. */
export interface FullHeader {
  readonly header: Header
  readonly auxPow: AuxPow
}

/** Reads headers with their AuxPow; `form`, and `work-proof` for bytes that are none. */
export function readHeaders(sent: unknown, most = maxHeaders): readonly FullHeader[] {
  const fault = (reason: string) => new ProofError('work-proof', reason)
  return list(sent, most).map((text) => {
    const bytes = bytesOf(base64(text), maxFullHeader)
    if (bytes === undefined) return fail('work-proof', `more than ${maxFullHeader} bytes`)
    return decodeAll(bytes, readFullHeader, fault)
  })
}

/** Headers that a chain needs below the first one whose bits and time are checked. */
export function headersBefore({ retarget }: WorkRules): number {
  return Math.max(retarget.interval, medianSpan)
}

/** Headers that follow each other. The first ones are trusted by hash, the others have work. */
export class HeaderChain {
  readonly rules: WorkRules
  readonly #headers: Header[]
  #work: bigint

  private constructor(rules: WorkRules, headers: Header[], work: bigint) {
    this.rules = rules
    this.#headers = headers
    this.#work = work
  }

  /** A chain over trusted headers, lowest first, and work counted before. Throws `work-link` if one does not link. */
  static over(rules: WorkRules, believed: readonly Header[], work = 0n): HeaderChain {
    if (believed.length === 0) fail('form', 'no header is believed')
    for (const [i, header] of believed.entries()) {
      const before = believed[i - 1]
      if (before !== undefined) requireLink(before, header)
    }
    return new HeaderChain(rules, [...believed], work)
  }

  get first(): Header {
    return this.#headers[0] as Header
  }

  get tip(): Header {
    return this.#headers.at(-1) as Header
  }

  /** Sum of the work of the headers that were checked. */
  get work(): bigint {
    return this.#work
  }

  at(height: number): Header | undefined {
    return this.#headers[height - this.first.height]
  }

  /** The last headers, lowest first. */
  last(count: number): readonly Header[] {
    return this.#headers.slice(-count)
  }

  /** A chain of its own up to a height of this one. */
  upTo(height: number): HeaderChain {
    const kept = this.#headers.slice(0, height - this.first.height + 1)
    const left = this.#headers.slice(kept.length)
    const work = left.reduce((sum, { bits }) => sum - workOf(bits), this.#work)
    return new HeaderChain(this.rules, kept, work)
  }

  /** Adds the next header; `now` in Unix milliseconds. */
  add({ header, auxPow }: FullHeader, now: number): void {
    const parent = this.tip
    requireLink(parent, header)
    const at = (height: number) => this.at(height) ?? fail('work-bits', `the header of height ${height} is not known`)
    if (!validTarget(targetOf(header.bits)) || header.bits !== requiredBits(this.rules, { parent, at })) {
      fail('work-bits', `bits ${header.bits} at height ${header.height}`)
    }
    const earliest = Math.max(parent.time, medianTime(parent, at) + 1)
    if (header.time < earliest || header.time * 1000 > now + maxAhead * 1000) {
      fail('work-time', `time ${formatDate(header.time)} at height ${header.height}`)
    }
    requireProof(this.rules, header, auxPow)
    this.#headers.push(header)
    this.#work += workOf(header.bits)
  }

  /** Throws unless a block is in this chain, under so many others. */
  requireDeep(header: Header, confirmations: number): void {
    const known = this.at(header.height)
    if (known === undefined || !equalBytes(known.hash, header.hash)) {
      fail('work-chain', `block ${header.height} is not in the chain with most work`)
    }
    const above = this.tip.height - header.height
    if (above < confirmations) fail('work-depth', `${above} blocks above block ${header.height}`)
  }
}

function requireLink(parent: Header, header: Header): void {
  const links = header.height === parent.height + 1 && equalBytes(header.previous, parent.hash)
  if (!links) fail('work-link', `the header at height ${header.height} does not follow that at ${parent.height}`)
}

function requireProof(rules: WorkRules, header: Header, auxPow: AuxPow): void {
  try {
    checkProofOfWork(rules, header, auxPow)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    fail('work-proof', `${error.code}: ${error.message}`)
  }
}
