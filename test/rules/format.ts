import { soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { concat } from '../../src/base/primitives/bytes.js'
import { confirmBytes, parseConfirm } from '../../src/base/primitives/confirm.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import type { RuleRow } from './row.js'

const transaction = new Transaction({
  version: 0,
  payloadVersion: 0,
  payload: { type: 2 },
  attributes: [],
  inputs: [],
  outputs: [],
  lockTime: 0,
  programs: [],
}).bytes

const header = new Header({
  version: 0,
  previous: zeroHash,
  merkleRoot: zeroHash,
  time: 0,
  bits: 0,
  nonce: 0,
  height: 0,
})
const block = new Block(header, soloAuxPow(header.hash, 0), []).bytes

const sponsor = new Uint8Array(33).fill(2)
const confirm = confirmBytes({
  proposal: { sponsor, blockHash: zeroHash, viewOffset: 0, signature: new Uint8Array(64) },
  votes: [],
})

const longer = (bytes: Uint8Array) => concat(bytes, Uint8Array.of(0))

/** Rules about form alone: each refusal is one byte away from what is accepted. */
export const formatRules: RuleRow[] = [
  {
    code: 'tx-malformed',
    accepts: () => void Transaction.fromBytes(transaction),
    refuses: () => void Transaction.fromBytes(longer(transaction)),
  },
  {
    code: 'block-malformed',
    accepts: () => void Block.fromBytes(block),
    refuses: () => void Block.fromBytes(longer(block)),
  },
  {
    code: 'confirm-malformed',
    accepts: () => void parseConfirm(confirm),
    refuses: () => void parseConfirm(longer(confirm)),
  },
]
