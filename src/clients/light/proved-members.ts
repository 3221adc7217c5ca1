/**
 * Members of a light resolver's answer, and the basis of each: the one table, from which docs/trust.md has its own. Tests change each byte
 * of answers, and find that no other member changes.
 */

/**
 * `proof`: untrue values are refused. `signature`: likewise if `signedBy` stands for the operation, else unproved. `checker`: made by the
 * resolver itself. `said`: unproved, as the server sent it.
 */
export type ProvedBy = 'proof' | 'signature' | 'checker' | 'said'

export interface MemberRow {
  /** Path in a result of `resolve`, `resolveCredential`, `verifyAnswer` and `verifyBundle`. */
  readonly member: string
  readonly by: ProvedBy
  /** The proof of it, or the reason why it has none. */
  readonly why: string
}

export const provedMembers: readonly MemberRow[] = [
  { member: 'did', by: 'proof', why: 'the leaf of the DID in the state that the block commits to' },
  { member: 'id', by: 'proof', why: 'the leaves of the credential' },
  {
    member: 'status',
    by: 'proof',
    why: 'the state of the leaf, the last document, and the clock of the checker; with `proved.statusUnproved` as the server said',
  },
  { member: 'transaction[].txid', by: 'proof', why: 'an entry of the history' },
  { member: 'transaction[].timestamp', by: 'proof', why: 'an entry of the history: the time of the block' },
  { member: 'transaction[].operation.header.operation', by: 'proof', why: 'an entry of the history' },
  { member: 'transaction[].operation.payload', by: 'proof', why: 'an entry of the history: its hash' },
  {
    member: 'transaction[].operation.header.previousTxid',
    by: 'signature',
    why: 'the entry before, where it is shown, or the signature of the operation',
  },
  {
    member: 'transaction[].operation.header.ticket',
    by: 'signature',
    why: 'the signatures of the controllers before in it, and the entry before, where it is shown',
  },
  { member: 'transaction[].operation.header.specification', by: 'signature', why: 'the signature of the operation' },
  { member: 'transaction[].operation.proof.type', by: 'said', why: 'no signature covers it' },
  {
    member: 'transaction[].operation.proof.verificationMethod',
    by: 'said',
    why: 'no signature covers it; `signedBy` is the key that was found',
  },
  {
    member: 'transaction[].operation.proof.signature',
    by: 'said',
    why: 'where it was verified, another one by the same key can stand in its place',
  },
  { member: 'proved.height', by: 'proof', why: 'the block, confirmed by validators or under enough work' },
  { member: 'proved.hash', by: 'proof', why: 'the same' },
  { member: 'proved.time', by: 'proof', why: 'the same' },
  { member: 'proved.age', by: 'checker', why: 'the time of the block and the clock of the checker' },
  { member: 'proved.servers[]', by: 'checker', why: 'whose answers held' },
  {
    member: 'proved.witnesses[]',
    by: 'proof',
    why: 'their cosignatures over the block, by the keys that the checker was given; present where witnesses are needed',
  },
  { member: 'proved.oldRoot', by: 'checker', why: 'the time of the trust root and the clock of the checker' },
  { member: 'proved.statusUnproved', by: 'proof', why: 'the last operation is not among those shown' },
  { member: 'proved.history.count', by: 'proof', why: 'the leaf of the DID' },
  { member: 'proved.history.entries[].txid', by: 'proof', why: 'an entry of the history' },
  { member: 'proved.history.entries[].height', by: 'proof', why: 'an entry of the history' },
  { member: 'proved.history.entries[].time', by: 'proof', why: 'an entry of the history' },
  {
    member: 'proved.history.entries[].signedBy',
    by: 'proof',
    why: 'the signature of the operation, by a key of the document that gives the right to sign: its own for a create, else the one before',
  },
  { member: 'proved.said[].signer', by: 'proof', why: 'the leaf of what this DID said of the credential' },
  { member: 'proved.said[].as', by: 'proof', why: 'the id, the declared credential and the question' },
  { member: 'proved.said[].operations[]', by: 'proof', why: 'the entries of that leaf' },
]
