import { ed25519PublicKey } from '../../src/base/crypto/ed25519.js'
import { lightRoutes } from '../../src/answers/api/paths/light-routes.js'
import {
  readVerifierKey,
  readNote,
  noteText,
  verifierKeyText,
  witnessKey,
} from '../../src/identity/proofs/witness-note.js'
import { readWitnessed, readWitnessHeads } from '../../src/clients/light/witnessed-heads.js'
import { Witnesses } from '../../src/clients/light/witnesses.js'
import { Signatures } from '../../src/clients/light/signatures.js'
import { HeadComparison } from '../../src/node/heads/compare-heads.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { checkCosignatures } from '../../src/identity/proofs/witness-note.js'
import { quietLog } from '../support/builders/chain.js'
import { lightWorld } from '../support/builders/light-world.js'
import { branchOf, witnessSecret } from '../support/builders/witness-world.js'
import { each, everyDoor, failureOf, limit } from './limit.js'

const { book } = lightWorld({ genesis: 'limits' })
const head = { genesis: sha256('g'), height: 1, didRoot: sha256('r'), hash: sha256('b') }
const line = '\u2014 w AAAA'
const publicKey = ed25519PublicKey(sha256('limits'))

/** A note with so many lines. */
const lines = (count: number) => each(count, () => line)

/** Heads of others with a confirm that does not hold, of which the first one is checked and the rest wait; a refusal of one of them. */
async function waiting(count: number): Promise<string | undefined> {
  const { tip } = book
  const heads = each(1 + count, (i) => branchOf(book, tip.height - 1, [{ padding: 3 + i }]).anchor(tip.height, true))
  const { confirm } = book.anchor(tip.height)
  const spec = { hasValidators: true, sections: [{ height: 0, params: { validators: book.keys(1) } }] }
  const genesis = book.page(0).block
  const own = { height: tip.height + 1, anchor: book.anchor(tip.height, true) }
  const comparison = new HeadComparison({
    ...{ reader: { chain: { spec, tip: { header: tip }, genesis } }, proofs: { anchor: async () => own } },
    ...{ log: quietLog(), onEvidence: () => {} },
  } as never)
  const sent = heads.map((anchor) => ({ chain: genesis.header.id, anchor: { ...anchor, confirm } }))
  const outcomes = await Promise.all(sent.map((one) => failureOf(comparison.exchange(one))))
  return outcomes.find((one) => one !== undefined)
}

export const witnessLimits = [
  limit({
    name: 'identity/proofs/witness-note.maxCosignatures',
    unit: 'count',
    value: 16,
    feed: everyDoor(
      (n) => void readNote(noteText(head, lines(n))),
      (n) => void checkCosignatures(head, lines(n), { keys: [], needed: 0 }).next(),
      (n) =>
        void readWitnessed({ format: 'didledger/witnessed/1', heads: [{ height: 1, cosignatures: lines(n) }] }, 16),
    ),
    refusal: 'form: form: 17 elements, at most 16',
  }),
  limit({
    name: 'identity/proofs/witness-note.maxWitnessName',
    unit: 'characters',
    value: 100,
    feed: (n) => void readVerifierKey(verifierKeyText(witnessKey('n'.repeat(n), publicKey))),
    refusal: 'form: form: a name of a witness has 1 to 100 characters',
  }),
  limit({
    name: 'identity/proofs/witness-note.maxNote',
    unit: 'characters',
    value: 8192,
    feed: (n) => {
      const base = noteText(head, [line])
      void readNote(`${base.slice(0, -1)}${'A'.repeat(n - base.length)}\n`)
    },
    refusal: 'form: form: a note of 8193 characters',
  }),
  limit({
    name: 'clients/light/witnessed-heads.maxHeads',
    unit: 'count',
    value: 16,
    feed: everyDoor(
      (n) => {
        const note = noteText({ ...head, height: 5, hash: book.page(5).block.header.hash }, [line])
        const heads = each(n, () => ({ note, anchor: book.anchor(5) }))
        void readWitnessHeads({ format: 'didledger/witness/1', heads }, true)
      },
      (n) => {
        const heads = each(n, (i) => ({ height: i, cosignatures: [] }))
        void readWitnessed({ format: 'didledger/witnessed/1', heads }, 16)
      },
    ),
    refusal: 'form: form: 17 elements, at most 16',
  }),
  limit({
    name: 'clients/light/witness-bounds.maxWitnesses',
    unit: 'count',
    value: 16,
    feed: (n) => {
      const keys = each(n, (i) => verifierKeyText(witnessSecret(`w${i}`).key))
      void new Witnesses({ keys }, { genesis: head.genesis, signatures: new Signatures() } as never)
    },
    refusal: 'witnesses.keys: a list of at most 16 keys is needed',
  }),
  limit({
    name: 'answers/api/results/proof-results.longestHead',
    unit: 'bytes',
    value: 128 * 1024,
    // The port refuses what is longer than its row says: 413 in test/behaviour/light/node-witness.test.ts.
    feed: (n) => {
      const most = lightRoutes.find(({ path }) => path === 'heads')?.body?.most ?? 0
      return n <= most ? undefined : 'longer than the row takes'
    },
    refusal: 'longer than the row takes',
  }),
  limit({
    name: 'node/heads/compare-heads.headsWaiting',
    unit: 'count',
    value: 8,
    feed: waiting,
    refusal: /too many heads to compare wait/,
  }),
]
