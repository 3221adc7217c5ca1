import { RuleError } from '../../base/errors/rule-error.js'
import { CodecError, decodeAll, Writer } from '../../base/primitives/codec.js'
import { maxView, type SignedMessage, type Step, steps } from './message.js'
import type { Votes } from './votes.js'

/** Messages that a node has of an open height, so that peers can send the missing ones. */
export interface Summary {
  readonly height: number
  readonly view: number
  readonly step: Step
  /** The highest view with a known quorum of prevotes for a block; -1 for none. */
  readonly validView: number
  /** The views with kept messages, ascending. */
  readonly views: readonly ViewSummary[]
}

export interface ViewSummary {
  readonly view: number
  /** Whether the node has the proposal. */
  readonly proposal: boolean
  /** One bit per validator, lowest bit of the first byte first: set if the node has its vote. */
  readonly prevotes: Uint8Array
  readonly precommits: Uint8Array
}

/**
 * The present view, and one other view of each of at most 100 validators.
 * @limit count: views of a summary
 */
const maxViews = 101
/** @limit bytes: a bitmap of a summary */
const maxBitmap = 13

export function encodeSummary(summary: Summary): Uint8Array {
  const writer = new Writer(512).u32(summary.height).u32(summary.view).u8(steps.indexOf(summary.step))
  writer.u32(summary.validView >>> 0)
  return writer
    .list(summary.views, ({ view, proposal, prevotes, precommits }) =>
      writer
        .u32(view)
        .u8(proposal ? 1 : 0)
        .varbytes(prevotes)
        .varbytes(precommits),
    )
    .finish()
}

/** Decodes exactly one summary; `vote-malformed` for anything else. */
export function parseSummary(bytes: Uint8Array): Summary {
  return decodeAll(
    bytes,
    (reader) => {
      const height = reader.u32()
      const view = reader.u32()
      const step = steps[reader.u8()]
      const validView = reader.u32() | 0
      if (view > maxView || validView < -1 || step === undefined) throw new CodecError('no such view or step')
      let last = -1
      const views = reader.list(maxViews, 7, () => {
        const entry = { view: reader.u32(), proposal: reader.u8(), bitmaps: [reader.varbytes(maxBitmap)] }
        if (entry.view <= last || entry.view > maxView) throw new CodecError('the views do not ascend')
        if (entry.proposal > 1) throw new CodecError('the byte for the proposal is neither 0 nor 1')
        last = entry.view
        const [prevotes] = entry.bitmaps as [Uint8Array]
        return { view: entry.view, proposal: entry.proposal === 1, prevotes, precommits: reader.varbytes(maxBitmap) }
      })
      return { height, view, step, validView, views }
    },
    (reason) => new RuleError('vote-malformed', reason),
  )
}

/** Summary of the kept messages. */
export function summarize(votes: Votes, header: Omit<Summary, 'views'>): Summary {
  const bitmap = (messages: readonly { readonly signer: Uint8Array }[]) => {
    const bits = new Uint8Array(Math.ceil(votes.validators.length / 8))
    for (const { signer } of messages) {
      const at = votes.indexOf(signer) as number
      bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7))
    }
    return bits
  }
  const views = votes.views().map((view) => ({
    view,
    proposal: votes.proposal(view) !== undefined,
    prevotes: bitmap(votes.prevotes(view)),
    precommits: bitmap(votes.precommits(view)),
  }))
  return { ...header, views }
}

/**
 * Kept messages that a peer with that summary lacks and would keep: all of its view and of higher views; of lower views
 * only precommits for a block, since they confirm in any view.
 */
export function missingVotes(votes: Votes, summary: Summary): SignedMessage[] {
  const has = (bitmap: Uint8Array | undefined, index: number) =>
    (((bitmap?.[index >> 3] ?? 0) >> (index & 7)) & 1) === 1
  const proposer = (view: number) => (summary.height + view) % votes.validators.length
  const sent = (entry: ViewSummary, index: number) =>
    has(entry.prevotes, index) || has(entry.precommits, index) || (entry.proposal && proposer(entry.view) === index)
  // Beside its present view the peer keeps the highest other view of each validator, and drops lower ones.
  const others = summary.views.filter(({ view }) => view !== summary.view)
  const lowestKept = votes.validators.map((_, index) =>
    Math.max(-1, ...others.filter((entry) => sent(entry, index)).map(({ view }) => view)),
  )
  return votes.views().flatMap((view) => {
    const entry = summary.views.find((one) => one.view === view)
    const keeps = (key: Uint8Array) => {
      const index = votes.indexOf(key) as number
      return view === summary.view || view >= (lowestKept[index] as number) ? index : undefined
    }
    const lacks = <T extends { readonly signer: Uint8Array }>(messages: readonly T[], bitmap: Uint8Array | undefined) =>
      messages.filter(({ signer }) => {
        const index = keeps(signer)
        return index !== undefined && !has(bitmap, index)
      })
    const precommits = lacks(votes.precommits(view), entry?.precommits)
    if (view < summary.view) return precommits.filter(({ kind }) => kind === 'precommit')
    const proposal = entry?.proposal === true ? undefined : votes.proposal(view)
    const proposals = proposal === undefined || keeps(proposal.proposal.sponsor) === undefined ? [] : [proposal]
    return [...proposals, ...lacks(votes.prevotes(view), entry?.prevotes), ...precommits]
  })
}
