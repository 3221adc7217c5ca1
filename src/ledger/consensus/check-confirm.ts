import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, mapKey, toHex } from '../../base/primitives/bytes.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../../base/primitives/confirm.js'
import type { Header } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { paramsAt, quorum, type Spec } from '../../base/primitives/spec.js'

/** The proposer of a height and view. */
export function proposerAt(spec: Spec, height: number, view: number): Uint8Array {
  const { validators } = paramsAt(spec, height)
  return validators[(height + view) % validators.length] as Uint8Array
}

/**
 * Whether a confirm belongs to this header: the proposer of its height and view, q to N votes for that proposal, each by another
 * validator in force. Throws `confirm-*`; returns the signature checks that must hold.
 */
export function checkConfirm(spec: Spec, header: Header, confirm: Confirm): SignatureCheck[] {
  const { proposal, votes } = confirm
  if (!equalBytes(proposal.blockHash, header.hash)) throw brokenRule('confirm-block')
  if (!equalBytes(proposal.sponsor, proposerAt(spec, header.height, proposal.viewOffset))) {
    throw new RuleError('confirm-sponsor', `${toHex(proposal.sponsor)} is not on duty in view ${proposal.viewOffset}`)
  }
  const { validators } = paramsAt(spec, header.height)
  const needed = quorum(validators.length)
  if (votes.length < needed) throw new RuleError('confirm-quorum', `${votes.length} votes, ${needed} needed`)
  const allowed = new Set(validators.map(mapKey))
  const hash = proposalHash(proposal)
  for (const vote of votes) {
    if (!allowed.delete(mapKey(vote.signer))) throw new RuleError('confirm-signer', `vote of ${toHex(vote.signer)}`)
    if (!vote.accept || !equalBytes(vote.proposalHash, hash)) {
      throw new RuleError('confirm-vote', `the vote of ${toHex(vote.signer)} is not for this proposal`)
    }
  }
  return [
    check(proposalUnsigned(proposal), proposal.sponsor, proposal.signature, 'proposal'),
    ...votes.map((vote) => check(voteUnsigned(vote), vote.signer, vote.signature, `vote of ${toHex(vote.signer)}`)),
  ]
}

function check(message: Uint8Array, key: Uint8Array, signature: Uint8Array, subject: string): SignatureCheck {
  return { message, keys: [key], signatures: [signature], code: 'confirm-signature', subject }
}
