import { reorganisationDepth } from '../../ledger/chain/branches.js'
import type { Chain } from '../../ledger/chain/chain.js'
import type { NodeChain } from '../../clients/wallet/chain-answer.js'
import type { NodeClient } from '../../clients/client/node-client.js'
import { UserError } from '../../base/errors/rule-error.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { paramsAt, type Spec, validatorsHash } from '../../base/primitives/spec.js'
import { type CommittedBlock, committedBlock, headerOf, readAnchor } from '../../identity/proofs/anchor.js'
import { type CheckpointJson, checkpointOf } from '../../identity/proofs/make-trust.js'
import { members } from '../../identity/proofs/read-json.js'

/** A block of a chain that checkers of proofs may trust. */

/**
 * The Checkpoint of the block at a height: by default of the tip, without validators of the highest block that no node gives up. A
 * {@link UserError} where there is no such block, or it commits to no state of DIDs.
 */
export function checkpointAt(
  { headers, tip, genesis }: Pick<Chain, 'headers' | 'tip' | 'genesis'>,
  spec: Spec,
  asked?: number,
): CheckpointJson {
  const top = tip.header.height
  const height = asked ?? (spec.hasValidators ? top : top - reorganisationDepth)
  if (height < 1) throw tooLow(top, asked)
  const known = headers.active(height)
  if (known === undefined) throw new UserError(`the chain ends at height ${top}, below ${height}`)
  if (!paramsAt(spec, height).didRoot) throw uncommitted(spec, height)
  return checkpointOf(
    genesis.header.hash,
    known.header,
    spec.hasValidators ? validatorsHash(spec, height + 1) : undefined,
  )
}

function tooLow(top: number, asked: number | undefined): UserError {
  if (asked !== undefined || top < 1) {
    return new UserError('the genesis block is no checkpoint: it is what a Trust names (didledger genesis trust)')
  }
  return new UserError(
    `the chain ends at height ${top}, and other work may still replace its last ${reorganisationDepth} blocks: ` +
      'choose one by --height if you know better',
  )
}

function uncommitted({ name, sections }: Spec, height: number): UserError {
  const from = sections.find(({ params }) => params.didRoot)?.height
  const reason = from === undefined ? 'nor does any other' : `they do from height ${from} on`
  return new UserError(`block ${height} of ${name} commits to no state of DIDs; ${reason}`)
}

/** The same of a running, trusted node; a {@link UserError} if it refuses, and a LightError if its answer is no anchor. */
export async function checkpointOfNode(
  node: Pick<NodeClient, 'rest' | 'rpc' | 'chain'>,
  asked?: number,
): Promise<CheckpointJson> {
  if (asked === 0) throw tooLow(0, asked)
  const told = await node.chain()
  if (told === undefined)
    throw new UserError(
      `the node at ${node.rest} has no getchaininfo, so it does not tell which chain its blocks are of`,
    )
  const newest = await anchorOf(node, asked)
  if (asked !== undefined || newest.nextKeys !== undefined)
    return checkpointOf(hashIn(told), newest.header, newest.nextKeys)
  const height = told.height - reorganisationDepth
  if (height < 1) throw tooLow(told.height, asked)
  return checkpointOf(hashIn(told), (await anchorOf(node, height)).header, undefined)
}

/** The block of an anchor that a node gives: of a height, else the newest that it proves. */
async function anchorOf(node: Pick<NodeClient, 'rpc'>, height: number | undefined): Promise<CommittedBlock> {
  const change = await node.rpc('light_anchor', height === undefined ? {} : { height })
  const sent = members(members(change, 'an answer with an anchor')['anchor'], 'an anchor')
  const hasValidators = 'confirm' in sent
  const anchor = readAnchor(sent, hasValidators)
  return committedBlock(anchor, headerOf(anchor), hasValidators)
}

function hashIn({ genesis }: NodeChain): Hash {
  return parseDisplayHash(genesis) as Hash
}
