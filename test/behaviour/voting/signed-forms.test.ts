import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signedText } from '../../../src/identity/did/operation.js'
import { fromUtf8, utf8 } from '../../../src/base/primitives/bytes.js'
import { Writer } from '../../../src/base/primitives/codec.js'
import { proposalUnsigned, voteUnsigned } from '../../../src/base/primitives/confirm.js'
import { canonicalJson } from '../../../src/base/primitives/strict-json.js'
import { maxView, preimage } from '../../../src/voting/tendermint/message.js'
import { bytes, hash, header, transaction, u32 } from '../../support/builders/arbitraries.js'

/**
 * Everything that a key of a validator may be asked to sign. Each form has a mark that none of the others can have, so
 * that a signature under one never passes for another.
 */

const key = fc.tuple(fc.constantFrom(2, 3), bytes(32)).map(([sign, x]) => Uint8Array.of(sign, ...x))
const view = fc.integer({ min: 0, max: maxView })
const base64url = fc.string({
  unit: fc.constantFrom(...'ABCXYZabcxyz0189-_'),
  minLength: 1,
  maxLength: 200,
})

const forms: Readonly<Record<string, { made: fc.Arbitrary<Uint8Array>; marked: (of: Uint8Array) => boolean }>> = {
  'a vote on a block': {
    made: fc.tuple(hash, key).map(([proposalHash, signer]) => voteUnsigned({ proposalHash, signer, accept: true })),
    marked: (of) => of.length === 67 && of[32] === 0x21 && of[66] === 1,
  },
  'a proposal of a block': {
    made: fc
      .tuple(key, hash, view)
      .map(([sponsor, blockHash, viewOffset]) => proposalUnsigned({ sponsor, blockHash, viewOffset })),
    marked: (of) => of.length === 70 && of[0] === 0x21 && (of[1] === 2 || of[1] === 3),
  },
  'a message of the voting': {
    made: fc
      .tuple(hash, header, view, key, hash, fc.integer({ min: -1, max: maxView }), fc.nat({ max: 2 }))
      .map(([genesis, of, at, signer, blockHash, validView, kind]) => {
        const { height } = of
        if (kind === 0) return preimage({ kind: 'prevote', height, view: at, blockHash, signer }, genesis)
        if (kind === 1) return preimage({ kind: 'precommit-nil', height, view: at, signer }, genesis)
        const proposal = { sponsor: signer, blockHash, viewOffset: at }
        return preimage({ kind: 'proposal', height, validView, header: of, proposal, prevotes: [] }, genesis)
      }),
    marked: (of) => /^didledger\/(proposal|prevote|precommit-nil)\/1\0/.test(Buffer.from(of).toString('latin1')),
  },
  'the work of a side chain': {
    // The rules refuse a height of 2^29 and above.
    made: fc.tuple(hash, hash, u32).map(([block, genesis, at]) =>
      new Writer(68)
        .bytes(block)
        .bytes(genesis)
        .u32(at % 2 ** 29)
        .finish(),
    ),
    marked: (of) => of.length === 68 && (of[67] as number) < 0x20,
  },
  'a transaction': {
    // One that is signed spends something and pays something.
    made: transaction.filter(({ inputs, outputs }) => inputs.length > 0 && outputs.length > 0).map((tx) => tx.unsigned),
    marked: (of) => of.length >= 112 && (of[0] as number) <= 0x0a,
  },
  'an operation, a document or a credential': {
    made: fc.oneof(
      fc
        .tuple(fc.constantFrom('create', 'update', 'deactivate'), base64url, bytes(32))
        .map(([operation, payload, txid]) => {
          const previousTxid = operation === 'update' ? Buffer.from(txid).toString('hex') : undefined
          const proof = { proofType: '', verificationMethod: '#primary', signature: '' }
          const named = { specification: 'ledger/did/1.0', operation, payload, ...proof }
          return fromUtf8(signedText(previousTxid === undefined ? named : { ...named, previousTxid }))
        }),
      fc
        .dictionary(fc.string(), fc.string())
        .map((members) => fromUtf8(canonicalJson(new Map(Object.entries(members))))),
    ),
    marked: (of) => {
      const text = utf8(of)
      return text !== undefined && !/[\0-\x1f]/.test(text)
    },
  },
}

test.each(Object.entries(forms))('%s is nothing else', (name, { made }) => {
  fc.assert(
    fc.property(made, (signed) => {
      const marks = Object.entries(forms).filter(([, { marked }]) => marked(signed))
      expect(marks.map(([form]) => form)).toEqual([name])
    }),
    { numRuns: 1000 },
  )
})
