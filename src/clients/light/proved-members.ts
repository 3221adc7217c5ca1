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

const rows: readonly (readonly [member: string, by: ProvedBy, why: string])[] = [
  ['did', 'proof', 'the leaf of the DID in the state that the block commits to'],
  ['id', 'proof', 'the leaves of the credential'],
  [
    'status',
    'proof',
    'the state of the leaf, the last document, and the clock of the checker; with `proved.statusUnproved` as the server said',
  ],
  ['transaction[].txid', 'proof', 'an entry of the history'],
  ['transaction[].timestamp', 'proof', 'an entry of the history: the time of the block'],
  ['transaction[].operation.header.operation', 'proof', 'an entry of the history'],
  ['transaction[].operation.payload', 'proof', 'an entry of the history: its hash'],
  [
    'transaction[].operation.header.previousTxid',
    'signature',
    'the entry before, where it is shown, or the signature of the operation',
  ],
  [
    'transaction[].operation.header.ticket',
    'signature',
    'the signatures of the controllers before in it, and the entry before, where it is shown',
  ],
  ['transaction[].operation.header.specification', 'signature', 'the signature of the operation'],
  ['transaction[].operation.proof.type', 'said', 'no signature covers it'],
  [
    'transaction[].operation.proof.verificationMethod',
    'said',
    'no signature covers it; `signedBy` is the key that was found',
  ],
  [
    'transaction[].operation.proof.signature',
    'said',
    'where it was verified, another one by the same key can stand in its place',
  ],
  ['proved.height', 'proof', 'the block, confirmed by validators or under enough work'],
  ['proved.hash', 'proof', 'the same'],
  ['proved.time', 'proof', 'the same'],
  ['proved.age', 'checker', 'the time of the block and the clock of the checker'],
  ['proved.servers[]', 'checker', 'whose answers held'],
  [
    'proved.witnesses[]',
    'proof',
    'their cosignatures over the block, by the keys that the checker was given; present where witnesses are needed',
  ],
  ['proved.oldRoot', 'checker', 'the time of the trust root and the clock of the checker'],
  ['proved.statusUnproved', 'proof', 'the last operation is not among those shown'],
  ['proved.history.count', 'proof', 'the leaf of the DID'],
  ['proved.history.entries[].txid', 'proof', 'an entry of the history'],
  ['proved.history.entries[].height', 'proof', 'an entry of the history'],
  ['proved.history.entries[].time', 'proof', 'an entry of the history'],
  [
    'proved.history.entries[].signedBy',
    'proof',
    'the signature of the operation, by a key of the document that gives the right to sign: its own for a create, else the one before',
  ],
  ['proved.said[].signer', 'proof', 'the leaf of what this DID said of the credential'],
  ['proved.said[].as', 'proof', 'the id, the declared credential and the question'],
  ['proved.said[].operations[]', 'proof', 'the entries of that leaf'],
]

export const provedMembers: readonly MemberRow[] = /* @__PURE__ */ rows.map(([member, by, why]) => ({
  member,
  by,
  why,
}))
