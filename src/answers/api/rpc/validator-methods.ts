import { Type } from '@sinclair/typebox'
import { proposerAt } from '../../../ledger/consensus/check-confirm.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { paramsAt, type Params, quorum, type Spec } from '../../../base/primitives/spec.js'
import { signingText } from '../../../voting/signing-state.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { voterList } from '../results/voter-list.js'
import { listedVoters } from '../schemas/block-schemas.js'
import { bytes, closed, heightParam, oneOf, publicKey, uint32 } from '../schemas/common-schemas.js'
import { arbitersInfo } from '../schemas/node-schemas.js'
import { method, type RpcMethod } from './method.js'

/**
 * Each message may be as long as a proposal.
 * @tuning count: pairs of messages that one `getevidence` answers with
 */
const mostEvidence = 100

/** Validators of blocks, their votes, and evidence against them. */
export const validatorMethods: readonly RpcMethod[] = [
  method({
    name: 'getarbitersinfo',
    summary:
      'The validators of the next block, whose turn it is, whose votes have arrived, whether the chain goes on, and the validators that follow.',
    result: arbitersInfo,
    run: arbiters,
  }),
  method({
    name: 'listvoters',
    lasts: 'chain',
    summary:
      `Who proposed and who voted for the blocks of a range of at most ${apiLimits.pageRows} heights, by their confirms: the last ones by ` +
      `default. Nothing on a chain without validators.`,
    params: Type.Object({
      from: Type.Optional(uint32('first height')),
      to: Type.Optional(uint32('last height; beyond the tip it is the tip')),
    }),
    result: listedVoters,
    run: (context, { from, to }) => voterList(context, { from, to }),
  }),
  method({
    name: 'getevidence',
    summary:
      'Pairs of messages of which a validator may sign one at most, and of confirms of one height; the lowest first, at most 100.',
    params: Type.Object({
      height: Type.Optional({ ...heightParam, description: 'of this height alone' }),
    }),
    result: Type.Array(
      closed({
        height: uint32('of the block that was voted on'),
        view: uint32('in which both were signed; 0 of confirms'),
        kind: oneOf(['proposal', 'prevote', 'precommit', 'confirm'], 'what there are two of'),
        signer: publicKey('of the validator; of confirms the sponsor of the one that this node follows'),
        first: bytes('a message; of confirms the 84 bytes of a header and its confirm; in hex'),
        second: bytes('another one, in hex'),
      }),
    ),
    run: ({ voting }, { height }) =>
      (voting?.evidence(height) ?? []).slice(0, mostEvidence).map(({ signer, first, second, ...rest }) => ({
        ...rest,
        signer: toHex(signer),
        first: toHex(first),
        second: toHex(second),
      })),
  }),
]

function arbiters({ reader, voting, devnet, health }: ApiContext): Record<string, unknown> {
  const { spec } = reader.chain
  const vote = voting?.status()
  const height = vote?.height ?? reader.height + 1
  const view = vote?.view ?? 0
  const inForce = paramsAt(spec, height)
  const { validators } = inForce
  const votes = voting?.votes() ?? validators.map((publicKey) => ({ publicKey, ...noVotes }))
  const next = spec.sections.find((section) => section.height > height && !sameValidators(section.params, inForce))
  return {
    height,
    arbiters: validators.map(toHex),
    candidates: [],
    nextarbiters: (next?.params ?? inForce).validators.map(toHex),
    nextcandidates: [],
    ondutyarbiter: spec.hasValidators ? toHex(vote?.sponsor ?? proposerAt(spec, height, view)) : '',
    currentturnstartheight: turnStart(spec, height),
    nextturnstartheight: next?.height ?? null,
    view,
    step: vote?.step ?? null,
    // The node of a devnet holds its only key.
    signing: signingText(vote?.signing ?? { kind: devnet === undefined ? 'no-key' : 'voting' }),
    alarm: vote?.alarm ?? null,
    validators: validators.length,
    quorum: validators.length === 0 ? 0 : quorum(validators.length),
    heard: votes.filter(({ heard }) => heard).length,
    votes: votes.map(({ publicKey, heard, prevote, precommit }) => ({
      publickey: toHex(publicKey),
      ...{ heard, prevote, precommit },
    })),
    ...defined({ emptyblockin: vote?.emptyBlockIn, stalled: health().stalled }),
  }
}

const noVotes = { heard: false, prevote: false, precommit: false }

/** The height from which the validators of `height` have been the same. */
function turnStart(spec: Spec, height: number): number {
  const sections = spec.sections.filter((section) => section.height <= height)
  const inForce = paramsAt(spec, height)
  const before = sections.findLastIndex(({ params }) => !sameValidators(params, inForce))
  return sections[before + 1]?.height ?? 0
}

function sameValidators(a: Params, b: Params): boolean {
  return a.validators.map(toHex).join() === b.validators.map(toHex).join()
}
