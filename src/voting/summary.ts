import { RuleError } from '../errors.js'
import { CodecError, decodeAll, Writer } from '../primitives/codec.js'
import { maxView, type Step, steps } from './message.js'

/** What a node has of an open height, so that others can send what it lacks. */
export interface Summary {
  readonly height: number
  readonly view: number
  readonly step: Step
  /** The highest view of which it has a block with a quorum of prevotes; -1 for none. */
  readonly validView: number
  /** The views of which it keeps messages, ascending. */
  readonly views: readonly ViewSummary[]
}

export interface ViewSummary {
  readonly view: number
  /** Whether it has the sponsor's proposal. */
  readonly proposal: boolean
  /** A bit for every validator, the lowest bit of the first byte first: whose votes it has. */
  readonly prevotes: Uint8Array
  readonly precommits: Uint8Array
}

/** The present view, and one more of each of at most 100 validators. */
const maxViews = 101
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
