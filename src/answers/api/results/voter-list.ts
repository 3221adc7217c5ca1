import type { Static } from '@sinclair/typebox'
import { toHex } from '../../../base/primitives/bytes.js'
import type { Confirm } from '../../../base/primitives/confirm.js'
import { paramsAt } from '../../../base/primitives/spec.js'
import { joinedHeight } from '../../../ledger/storage/rows/prune-rows.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import type { listedVoters } from '../schemas/block-schemas.js'
import type { StreamedAnswer } from '../streams/streamed-answer.js'
import { heldConfirms } from './held-confirms.js'
import { type AskedRange, boundsOf, checkRange } from './asked-range.js'
import { snapshotAnswer } from './snapshot-answer.js'

type VoterRow = Static<typeof listedVoters>['heights'][number]

/** Voters of blocks by their confirms, and each set of validators once. `request-parameter` for a range that is no range, or too long. */
export function voterList({ reader }: ApiContext, range: AskedRange): StreamedAnswer {
  checkRange(range, apiLimits.pageRows, 'heights')
  const { chain } = reader
  return snapshotAnswer(reader, ['voters', range.from ?? '', range.to ?? ''], async (state, sink) => {
    if (!chain.spec.hasValidators) return { validators: [], heights: [] }
    const { first, last } = boundsOf(range, apiLimits.pageRows, state.tip.height)
    const blocks = await state.blocks(Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i))
    const confirms = await heldConfirms(chain, state, blocks)
    const sets = new ValidatorSets()
    const heights: VoterRow[] = []
    for (const { header } of blocks) {
      const confirm = confirms.get(header.height)
      if (confirm === undefined) continue
      const { validators } = paramsAt(chain.spec, header.height)
      heights.push(voterRow(header.height, sets.add(validators), confirm))
      if (sink.due) await sink.drain()
    }
    const joined = joinedHeight(state.rows)
    return { validators: sets.list, heights, ...(joined > 0 && { pruned: joined }) }
  })
}

function voterRow(height: number, { number, positions }: ValidatorSet, { proposal, votes }: Confirm): VoterRow {
  return {
    height,
    set: number,
    view: proposal.viewOffset,
    proposer: toHex(proposal.sponsor),
    voters: votes.map(({ signer }) => positions.get(toHex(signer)) as number).sort((a, b) => a - b),
  }
}

/** A set of validators in a list of sets. */
interface ValidatorSet {
  readonly number: number
  /** Positions in the order of duty, by public key in hex. */
  readonly positions: ReadonlyMap<string, number>
}

/** Different sets of validators, each once. */
class ValidatorSets {
  readonly #sets = new Map<string, ValidatorSet>()

  add(members: readonly Uint8Array[]): ValidatorSet {
    const keys = members.map(toHex)
    const known = this.#sets.get(keys.join())
    if (known !== undefined) return known
    const set = { number: this.#sets.size, positions: new Map(keys.map((key, i) => [key, i])) }
    this.#sets.set(keys.join(), set)
    return set
  }

  /** Public keys in hex. */
  get list(): string[][] {
    return Array.from(this.#sets.values(), ({ positions }) => [...positions.keys()])
  }
}
