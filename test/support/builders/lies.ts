import { quickSigner } from '../../../src/base/crypto/quick-signer.js'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import { formatDate } from '../../../src/identity/did/date.js'
import type { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { concat, equalBytes } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { compactConfirm } from '../../../src/identity/proofs/anchor-confirm.js'
import { credentialMapKey, didMapKey, sharePath } from '../../../src/identity/proofs/map-tree.js'
import { lightWorld, type WorldPlan, worldTime } from './light-world.js'
import { confirmOf, leavesOf, ProofBook, paperGenesis } from './proof-book.js'
import { holder } from './did.js'
import { type Json, type Lies } from '../fakes/light-server.js'

/** Lies that a server could tell, each with the name of the failure that it meets. */

export const world = lightWorld()
const { book, alice, bob, carol, dave, kept, revoked, versions } = world
const tip = book.tip.height
const aliceKey = didMapKey(alice.did)

export interface Lie {
  readonly lies: Lies
  readonly ask?: (light: LightResolver) => Promise<unknown>
  readonly book?: ProofBook
  readonly options?: object
}

/** A lie in the answer about alice. */
const answer = (change: (right: Json) => unknown, ask?: Lie['ask']): Lie => ({
  lies: { answer: change },
  ...(ask && { ask }),
})
const inMap = (change: (map: Json, right: Json) => unknown, ask?: Lie['ask']): Lie =>
  answer((right) => {
    right.proof.maps[0] = change(right.proof.maps[0], right) ?? right.proof.maps[0]
    return right
  }, ask)
const inAnchor = (change: (anchor: Json) => unknown, more: Partial<Lie> = {}): Lie => ({
  ...answer((right) => {
    right.proof.anchor = change(right.proof.anchor) ?? right.proof.anchor
    return right
  }),
  ...more,
})
const inTransaction = (change: (transaction: Json) => void, ask?: Lie['ask']): Lie =>
  answer((right) => {
    change(right.transaction[0])
    return right
  }, ask)

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))
const entriesOf = (map: Json): Uint8Array[] => {
  const all = bytes(map.history.entries)
  return Array.from({ length: all.length / 73 }, (_, i) => all.slice(i * 73, (i + 1) * 73))
}
const withEntries = (map: Json, entries: readonly Uint8Array[], changes: object = {}) => ({
  ...map,
  history: { ...map.history, entries: encodeBase64url(concat(...entries)), ...changes },
})
const all = (light: LightResolver) => light.resolve(alice.did, { all: true })
const ofBob = (light: LightResolver) => light.resolve(bob.did)
const ofCarol = (light: LightResolver) => light.resolve(carol.did)
const ofCredential = (light: LightResolver) => light.resolveCredential(revoked)
const absent = Array.from({ length: 300 }, (_, i) => `did:ledger:absent${i}`)
const hasLeaf = (did: string) => 'leaf' in book.map(didMapKey(did), tip)
const emptyPlace = absent.find((did) => !hasLeaf(did)) as string
export const foreignLeaf = absent.find(hasLeaf) as string
const changedAt = (text: string, at: number, bits = 1) => {
  const changed = bytes(text)
  changed[at] = (changed[at] as number) ^ bits
  return encodeBase64url(changed)
}

/** A chain whose blocks a plan changes, signed by its validators. */
const by = (plan: WorldPlan['plan'], lies: Lies = {}): Lie => ({
  book: lightWorld({ ...(plan && { plan }) }).book,
  lies,
})
export const atTip =
  <T extends object>(plan: T) =>
  (height: number) =>
    height === tip ? plan : {}
const commitments = (change: (data: Uint8Array) => readonly Uint8Array[]) =>
  atTip({
    attributes: (right: { usage: number; data: Uint8Array }) => change(right.data).map((data) => ({ ...right, data })),
  })

/** The confirm of the tip, made otherwise. */
const confirmedBy = (plan: Parameters<typeof confirmOf>[2], signers = world.first): Lie =>
  inAnchor((anchor) => {
    const keys = signers.map(({ publicKey }) => publicKey)
    return { ...anchor, confirm: encodeBase64url(compactConfirm(confirmOf(book.tip, signers, plan), keys)) }
  })

export const other = lightWorld({ genesis: 'another' })
const strangers = Array.from({ length: 4 }, () => quickSigner())
const eve = holder()

/** Documents of alice on a chain that took anything. */
const withDocument = (payload: (text: string) => string): Lie => {
  const strange = new ProofBook(paperGenesis('world', worldTime), [{ height: 1, signers: world.first }])
  const create = alice.create()
  const text = Buffer.from(create.payload, 'base64url').toString()
  // The entry is of alice's leaf, whatever document it is.
  strange.make({ operations: [{ ...create, payload: encodeBase64url(Buffer.from(payload(text))) }] })
  return { book: strange, lies: {} }
}

const changed = lightWorld({ changeAt: 9 })
const inChanges = (change: (right: Json) => unknown, from = changed): Lie => ({
  book: from.book,
  lies: { changes: (right) => change(right) ?? right },
})
const twice = (() => {
  const more = lightWorld({ changeAt: 9 })
  more.book.teams.push({ height: 17, signers: strangers })
  // The list of the block before is made with the team that comes.
  more.book.pop()
  more.book.make()
  more.book.make()
  return more
})()

export const lies: readonly (readonly [name: string, failure: string, lie: Lie])[] = [
  ['1 a DID does not exist, without a proof', 'proof-missing', answer(({ did }) => ({ did, status: 3 }))],
  ['2 by HTTP 404', 'proof-missing', { lies: { response: () => new Response('', { status: 404 }) } }],
  [
    '2 by an answer of DID Resolution',
    'proof-missing',
    { lies: { response: () => new Response('{"didResolutionMetadata":{"error":{"type":"NOT_FOUND"}}}') } },
  ],
  [
    '3 the absence of another DID',
    'path-root',
    answer(({ did, proof }) => ({ did, status: 3, proof: { ...proof, maps: [book.map(didMapKey(emptyPlace), tip)] } })),
  ],
  [
    '4 an empty place',
    'path-root',
    answer(({ did, proof: { maps, ...proof } }) => {
      const [{ history: _, ...map }] = maps as [Json]
      return { did, status: 3, proof: { ...proof, maps: [map] } }
    }),
  ],
  [
    '5 an invented DID',
    'path-root',
    answer(
      (right) => {
        const invented = new ProofBook(paperGenesis('world', worldTime), [{ height: 1, signers: world.first }])
        invented.make({ operations: [eve.create()] })
        const { status, transaction, proof } = invented.answer(eve.did)
        const map = { ...right.proof.maps[0], leaf: undefined, history: (proof.maps[0] as Json).history }
        return { did: eve.did, status, transaction, proof: { ...right.proof, maps: [map] } }
      },
      (light) => light.resolve(eve.did),
    ),
  ],
  [
    '6 an older version under the newest block',
    'path-root',
    answer((right) => {
      const { transaction, proof } = book.answer(alice.did, { height: 2 })
      return { ...right, transaction, proof: { ...right.proof, maps: proof.maps } }
    }),
  ],
  [
    '7 without the last entry',
    'path-root',
    inMap((map) => withEntries(map, entriesOf(map).slice(0, -1), { count: 2, base: undefined }), all),
  ],
  [
    '8 without a middle entry',
    'path-root',
    inMap(
      (map) =>
        withEntries(
          map,
          entriesOf(map).filter((_, i) => i !== 1),
          { count: 2 },
        ),
      all,
    ),
  ],
  [
    '9 with entries swapped',
    'path-root',
    inMap((map) => {
      const [a, b, c] = entriesOf(map) as [Uint8Array, Uint8Array, Uint8Array]
      return withEntries(map, [a, c, b])
    }, all),
  ],
  ...(
    [
      ['height', 1],
      ['time', 5],
      ['txid', 9],
    ] as const
  ).map(
    ([what, at]) =>
      [
        `10 another ${what} in an entry`,
        'path-root',
        inMap((map) => ({ ...map, history: { ...map.history, entries: changedAt(map.history.entries, at) } })),
      ] as const,
  ),
  [
    '11 a deactivated DID as valid',
    'path-root',
    answer(() => {
      const before = book.answer(bob.did, { height: 2 })
      return { ...before, proof: { ...before.proof, anchor: book.anchor(tip) } }
    }, ofBob),
  ],
  [
    '12 a valid DID as deactivated',
    'path-root',
    inMap((map) =>
      withEntries(
        map,
        entriesOf(map).map((entry) => Uint8Array.of(3, ...entry.slice(1))),
        { state: 2 },
      ),
    ),
  ],
  ['13 the answer of another DID', 'path-root', answer(() => ({ ...book.answer(bob.did), did: alice.did }))],
  [
    '14 a revocation hidden by the leaf of another signer',
    'path-root',
    answer((right) => {
      const [own] = right.proof.maps
      right.proof.maps[1] = book.map(credentialMapKey(kept, alice.did), tip)
      return {
        ...right,
        status: 0,
        transaction: right.transaction.slice(1),
        proof: { ...right.proof, maps: [own, right.proof.maps[1]] },
      }
    }, ofCredential),
  ],
  [
    '15 a block of another chain with the same validators',
    'path-root',
    answer((right) => {
      right.proof.anchor = other.book.anchor(tip)
      return right
    }),
  ],
  [
    '15 such a block in a change',
    'anchor-root',
    inChanges((right) => {
      const foreign = lightWorld({ genesis: 'another', changeAt: 9 })
      right.changes = foreign.book.changes(1).changes
    }),
  ],
  [
    '16 absence by the own leaf',
    'path-foreign',
    answer(({ did, proof }) => {
      const leaf = leavesOf(book.page(tip).histories).find(({ key }) => equalBytes(key, aliceKey)) as {
        key: Uint8Array
        value: Uint8Array
      }
      const { history: _, ...map } = proof.maps[0]
      return {
        did,
        status: 3,
        proof: { ...proof, maps: [{ ...map, leaf: encodeBase64url(concat(leaf.key, leaf.value)) }] },
      }
    }),
  ],
  [
    '17 absence by a leaf off the way',
    'path-foreign',
    answer(({ did, proof }) => {
      const { history: _, ...map } = proof.maps[0]
      const leaf = leavesOf(book.page(tip).histories).find(({ key }) => !sharePath(key, aliceKey, map.depth)) as {
        key: Uint8Array
        value: Uint8Array
      }
      return {
        did,
        status: 3,
        proof: { ...proof, maps: [{ ...map, leaf: encodeBase64url(concat(leaf.key, leaf.value)) }] },
      }
    }),
  ],
  ['18 the true answer of another DID', 'answer-did', answer(() => book.answer(bob.did))],
  [
    '19 without the first entries, for all',
    'answer-incomplete',
    answer(
      (right) => ({
        ...book.answer(alice.did, { versionId: versions[1] as string }),
        transaction: right.transaction.slice(0, 2),
      }),
      all,
    ),
  ],
  [
    '19 without the first transaction, for all',
    'answer-incomplete',
    answer((right) => ({ ...right, transaction: right.transaction.slice(0, 2) }), all),
  ],
  [
    '20 without the leaf of the issuer',
    'answer-incomplete',
    answer((right) => ({ ...right, proof: { ...right.proof, maps: [right.proof.maps[0]] } }), ofCredential),
  ],
  [
    '21 another time beside true entries',
    'answer-transaction',
    inTransaction((one) => (one.timestamp = formatDate(worldTime))),
  ],
  ['22 another txid', 'answer-transaction', inTransaction((one) => (one.txid = versions[0]))],
  [
    '23 another payload',
    'answer-transaction',
    inTransaction((one) => (one.operation.payload = encodeBase64url(Buffer.from('{}')))),
  ],
  ['24 another operation', 'answer-transaction', inTransaction((one) => (one.operation.header.operation = 'create'))],
  [
    '25 another previous txid',
    'answer-transaction',
    inTransaction((one) => (one.operation.header.previousTxid = versions[0]), all),
  ],
  [
    '26 another credential',
    'answer-transaction',
    answer((right) => {
      right.transaction[1].operation.payload = encodeBase64url(
        Buffer.from(dave.issue(alice.did, { id: revoked, type: ['Other'] })),
      )
      return right
    }, ofCredential),
  ],
  ['27 an expired DID as valid', 'answer-status', answer((right) => ({ ...right, status: 0 }), ofCarol)],
  ['28 a valid DID as expired', 'answer-status', answer((right) => ({ ...right, status: 1 }))],
  ['28 an existing DID as absent, with its proof', 'answer-status', answer((right) => ({ ...right, status: 3 }))],
  [
    '29 a document without a valid proof',
    'answer-document',
    withDocument((text) => text.replace('"expires":"2030', '"expires":"2031')),
  ],
  [
    '30 of a key that is not that of the DID',
    'answer-document',
    withDocument((text) => {
      const document = JSON.parse(text) as Json
      document.publicKey = (JSON.parse(Buffer.from(eve.create().payload, 'base64url').toString()) as Json).publicKey
      return JSON.stringify({
        ...document,
        publicKey: document.publicKey.map((key: Json) => ({ ...key, controller: undefined })),
      })
    }),
  ],
  [
    '32 the version before',
    'answer-version',
    answer(
      () => book.answer(alice.did, { versionId: versions[0] as string, proof: 'history' }),
      (light) => light.resolve(alice.did, { versionId: versions[1] as string }),
    ),
  ],
  [
    '33 the version after the time asked',
    'answer-version',
    answer(
      () => book.answer(alice.did, { versionId: versions[2] as string }),
      (light) => light.resolve(alice.did, { versionTime: formatDate(worldTime + 25) }),
    ),
  ],
  [
    '34 the header of another block',
    'anchor-coinbase',
    inAnchor((anchor) => ({ ...anchor, header: book.anchor(tip - 1).header })),
  ],
  [
    '35 the coinbase of another block',
    'anchor-coinbase',
    inAnchor((anchor) => ({ ...anchor, coinbase: book.anchor(tip - 1).coinbase })),
  ],
  [
    '36 an inner node of 64 bytes',
    'anchor-coinbase',
    inAnchor((anchor) => {
      const branch = bytes(anchor.branch)
      return {
        ...anchor,
        coinbase: encodeBase64url(concat(sha256('coinbase'), branch.slice(0, 32))),
        branch: encodeBase64url(branch.slice(32)),
      }
    }),
  ],
  [
    '37 a later transaction',
    'anchor-coinbase',
    inAnchor((anchor) => ({
      ...anchor,
      coinbase: encodeBase64url((book.page(tip).block.transactions[1] as { unsigned: Uint8Array }).unsigned),
    })),
  ],
  [
    '38 another root in the coinbase',
    'anchor-branch',
    inAnchor((anchor) => {
      const coinbase = bytes(anchor.coinbase)
      const at = Buffer.from(coinbase).indexOf('LDG1') + 4 + 33 + 1
      return { ...anchor, coinbase: changedAt(anchor.coinbase, at) }
    }),
  ],
  [
    '39 a branch of 15',
    'anchor-branch',
    inAnchor((anchor) => ({ ...anchor, branch: encodeBase64url(new Uint8Array(15 * 32).fill(1)) })),
  ],
  [
    '40 a branch that is one node short',
    'anchor-branch',
    inAnchor((anchor) => ({ ...anchor, branch: encodeBase64url(bytes(anchor.branch).slice(0, -32)) })),
  ],
  ['41 two attributes with commitments', 'anchor-commitment', by(commitments((data) => [data, data]))],
  [
    '42 tags out of order',
    'anchor-commitment',
    by(commitments((data) => [concat(data.slice(0, 4), data.slice(37, 70), data.slice(4, 37), data.slice(70))])),
  ],
  ['43 bytes after them', 'anchor-commitment', by(commitments((data) => [concat(data, Uint8Array.of(0))]))],
  [
    '44 an unknown tag',
    'anchor-commitment',
    by(commitments((data) => [concat(data, Uint8Array.of(4), new Uint8Array(32))])),
  ],
  ['45 no root', 'anchor-commitment', by(commitments((data) => [concat(data.slice(0, 37), data.slice(70))]))],
  ['46 one vote too few', 'confirm-quorum', confirmedBy({ voters: [0, 1] })],
  [
    '47 a bit above the number of validators',
    'confirm-form',
    inAnchor((anchor) => ({ ...anchor, confirm: changedAt(anchor.confirm, 68, 1) })),
  ],
  [
    '48 a cut signature',
    'confirm-form',
    inAnchor((anchor) => ({ ...anchor, confirm: encodeBase64url(bytes(anchor.confirm).slice(0, -1)) })),
  ],
  [
    '49 another time in the header',
    'confirm-signature',
    inAnchor((anchor) => ({ ...anchor, header: changedAt(anchor.header, 68) })),
  ],
  [
    '50 one vote for two validators',
    'confirm-signature',
    inAnchor((anchor) => {
      const confirm = bytes(anchor.confirm)
      confirm.set(confirm.slice(69, 133), 133)
      return { ...anchor, confirm: encodeBase64url(confirm) }
    }),
  ],
  ['51 votes by other keys', 'confirm-signature', confirmedBy({}, strangers)],
  [
    '52 the votes of another view',
    'confirm-signature',
    inAnchor((anchor) => ({ ...anchor, confirm: changedAt(anchor.confirm, 0) })),
  ],
  ['53 votes against it', 'confirm-signature', confirmedBy({ accept: false })],
  ['54 votes for another block', 'confirm-signature', confirmedBy({ blockHash: book.page(tip - 1).block.header.hash })],
  [
    '55 a change signed by its own new list',
    'confirm-signature',
    inChanges((right) => {
      const keys = strangers.map(({ publicKey }) => Buffer.from(publicKey).toString('hex'))
      const own = new ProofBook(paperGenesis('world', worldTime), [
        { height: 1, signers: world.first },
        { height: 2, signers: strangers },
      ])
      own.make()
      const confirm = encodeBase64url(
        compactConfirm(
          confirmOf(own.tip, strangers),
          strangers.map(({ publicKey }) => publicKey),
        ),
      )
      const change = own.change(2)
      right.changes = [{ ...change, validators: keys, anchor: { ...change.anchor, confirm } }]
    }),
  ],
  ['56 changes left out', 'confirm-signature', inChanges((right) => void (right.changes = []))],
  [
    '57 changes left out, where those in both lists suffice',
    'changes-missing',
    {
      ...inChanges((right) => void (right.changes = [])),
      options: {},
      book: (() => {
        const { book: later } = lightWorld({ changeAt: 9 })
        // The new validator is not on duty here.
        later.make()
        return later
      })(),
    },
  ],
  [
    '58 a list that the block does not name',
    'changes-keys',
    inChanges(
      (right) =>
        void (right.changes[0].validators = strangers.map(({ publicKey }) => Buffer.from(publicKey).toString('hex'))),
    ),
  ],
  [
    '58 a key twice',
    'changes-keys',
    inChanges((right) => void right.changes[0].validators.push(right.changes[0].validators[0])),
  ],
  ['58 no key', 'changes-keys', inChanges((right) => void (right.changes[0].validators = []))],
  [
    '58 a key off the curve',
    'changes-keys',
    inChanges((right) => void (right.changes[0].validators[0] = `02${'ff'.repeat(32)}`)),
  ],
  ['59 changes in another order', 'changes-order', inChanges((right) => void right.changes.reverse(), twice)],
  ['60 a change twice', 'changes-order', inChanges((right) => void right.changes.push(right.changes[0]))],
  [
    '61 a height that is not that after its block',
    'changes-order',
    inChanges((right) => void right.changes[0].height++),
  ],
  [
    '62 another block than the checkpoint',
    'checkpoint-hash',
    { lies: { anchor: () => book.change(8) }, options: { checkpoint: book.checkpoint(8) } },
  ],
  [
    '63 other validators than the checkpoint',
    'checkpoint-keys',
    {
      lies: { anchor: (right) => ({ ...right, validators: [...right.validators].reverse() }) },
      options: { checkpoint: book.checkpoint(8) },
    },
  ],
  [
    '64 an older version under its true block',
    'stale',
    { ...answer(() => book.answer(alice.did, { height: 3 })), options: { maxAge: 60 } },
  ],
  ['66 a block of the future', 'future', { lies: {}, options: { now: () => (book.tip.time - 66) * 1000 } }],
  ['69 another genesis', 'chain', answer(() => other.book.answer(alice.did))],
  ['69 another genesis of changes', 'chain', inChanges(() => other.book.changes(0))],
  ['71 endless JSON', 'form', { lies: { response: () => new Response(' '.repeat(8 * 1024 * 1024 + 1)) } }],
  ['71 deep JSON', 'form', { lies: { response: () => new Response('['.repeat(33) + ']'.repeat(33)) } }],
  ['71 broken JSON', 'form', { lies: { response: () => new Response('{"result":') } }],
  ['72 base64 with padding', 'form', inAnchor((anchor) => ({ ...anchor, coinbase: `${anchor.coinbase}=` }))],
  ['72 the same in a path', 'path-form', inMap((map) => ({ ...map, path: `${map.path}=` }))],
]

/** An answer about every version of alice, of which one transaction is changed. */
const inVersion = (place: number, change: (transaction: Json, right: Json) => void): Lie =>
  answer((right) => {
    change(right.transaction[place], right)
    return right
  }, all)
const signedBy = (holder: typeof alice, text: string) =>
  encodeBase64url(holder.primary.sign(new Uint8Array(Buffer.from(text))))
const firstVersion = (light: LightResolver) => light.resolve(alice.did, { versionId: versions[0] as string })
/** The answer to the second question, for the status beside an earlier version. */
const statusFrom = (change: (right: Json) => unknown): Lie => ({
  lies: { answer: (right, asked) => (asked.height === undefined ? right : change(right)) },
  ask: firstVersion,
})

/** Lies about parameters of a question, signatures of operations, and the size of an answer. */
export const furtherLies: typeof lies = [
  ['81 the status of another height', 'answer-height', statusFrom(() => book.answer(alice.did, { height: 3 }))],
  ['82 the status of another DID', 'answer-did', statusFrom(() => book.answer(carol.did))],
  ['83 a false status of the right height', 'answer-status', statusFrom((right) => ({ ...right, status: 1 }))],
  ['84 a status without a proof', 'proof-missing', statusFrom(({ did, status }) => ({ did, status }))],
  [
    '85 the status by an older history under the right block',
    'path-root',
    statusFrom((right) => {
      const older = book.answer(alice.did, { height: 2 })
      return { ...older, proof: { ...older.proof, anchor: right.proof.anchor } }
    }),
  ],
  [
    '86 a newer block than the height asked',
    'answer-height',
    answer(
      () => book.answer(alice.did),
      (light) => light.resolve(alice.did, { height: tip - 1 }),
    ),
  ],
  [
    '87 the header of the height asked over another block',
    'anchor-coinbase',
    answer(
      (right) => {
        right.proof.anchor = { ...book.anchor(tip), header: book.anchor(tip - 1).header }
        return right
      },
      (light) => light.resolve(alice.did, { height: tip - 1 }),
    ),
  ],
  [
    '88 a history without its first entries',
    'answer-incomplete',
    answer(
      () => book.answer(alice.did),
      (light) => light.resolve(alice.did, { history: true }),
    ),
  ],
  [
    '89 a version that exists is none, by the last entries',
    'answer-incomplete',
    answer((right) => ({ ...right, transaction: [] }), firstVersion),
  ],
  [
    '90 a key that was never listed',
    'answer-signature',
    inVersion(0, ({ operation }) => (operation.proof.verificationMethod = '#stolen-key')),
  ],
  [
    '91 another listed key',
    'answer-signature',
    inVersion(0, ({ operation }) => (operation.proof.verificationMethod = '#recovery')),
  ],
  [
    '92 a key of another DID by the same name',
    'answer-signature',
    inVersion(0, ({ operation }) => (operation.proof.verificationMethod = `${bob.did}#primary`)),
  ],
  [
    '93 the signature of another operation',
    'answer-signature',
    inVersion(
      0,
      ({ operation }, right) => (operation.proof.signature = right.transaction[1].operation.proof.signature),
    ),
  ],
  ['94 no signature', 'answer-signature', inVersion(2, ({ operation }) => (operation.proof.signature = ''))],
  [
    '95 a signature by a key of somebody else',
    'answer-signature',
    inVersion(2, ({ operation: { header, payload, proof } }) => {
      proof.signature = signedBy(bob, header.specification + header.operation + payload)
    }),
  ],
  [
    '96 another specification',
    'answer-signature',
    inVersion(2, ({ operation }) => (operation.header.specification = 'elastos/did/1.0')),
  ],
  [
    '97 a specification that runs into the name of the operation',
    'answer-signature',
    inVersion(0, ({ operation: { header } }) => (header.specification += 'update')),
  ],
  [
    '98 a previous txid where the entry before is not shown',
    'answer-transaction',
    inTransaction((one) => (one.operation.header.previousTxid = `${versions[1] as string}00`)),
  ],
  [
    '99 a previous txid of a create',
    'answer-transaction',
    inVersion(2, ({ operation }) => (operation.header.previousTxid = versions[0])),
  ],
  [
    '100 a deactivation by a key without the right',
    'answer-signature',
    answer(
      (right) => {
        right.transaction[0].operation.proof.verificationMethod = `${alice.did}#primary`
        return right
      },
      (light) => light.resolve(bob.did, { all: true }),
    ),
  ],
  [
    '101 the operations of a credential in another order',
    'answer-transaction',
    answer((right) => ({ ...right, transaction: [...right.transaction].reverse() }), ofCredential),
  ],
  [
    '102 the leaf of another signer than the one asked for',
    'path-root',
    answer(
      (right) => {
        right.proof.maps[2] = right.proof.maps[1]
        return right
      },
      (light) => light.resolveCredential(revoked, { issuer: bob.did }),
    ),
  ],
  [
    '103 more leaves than count',
    'answer-incomplete',
    answer(
      () => book.credential(kept, { issuer: bob.did }),
      (light) => light.resolveCredential(kept),
    ),
  ],
  [
    '104 a declare as if it were missing',
    'answer-incomplete',
    answer(
      (right) => ({ ...right, status: 3, transaction: [] }),
      (light) => light.resolveCredential(kept),
    ),
  ],
  [
    '105 two maps for a DID',
    'answer-incomplete',
    answer((right) => ({ ...right, proof: { ...right.proof, maps: [...right.proof.maps, ...right.proof.maps] } })),
  ],
  ['106 empty lists without end', 'form', { lies: { response: () => new Response(`[${'[],'.repeat(1000)}[]]`) } }],
  [
    '107 members without end beside a true answer',
    'form',
    answer((right) => ({ ...right, more: Array.from({ length: 300 }, (_, i) => i) })),
  ],
  [
    '108 a text without end beside a true answer',
    'form',
    answer((right) => ({ ...right, more: 'x'.repeat(4 * 1024 * 1024) })),
  ],
  [
    '109 validators without end in a change',
    'form',
    inChanges((right) => void (right.changes[0].validators = Array.from({ length: 20_000 }, () => '02'))),
  ],
]

/** Lies about the work of a chain without validators. */

export const mined = lightWorld({ miners: true })
export const minedHeight = tip - 6
export const honestMiners: Lies = { answer: ({ did }) => mined.book.answer(did, { height: minedHeight }) }
const headers = (change: (right: string[], from: number) => unknown): Lies => ({
  ...honestMiners,
  headers: (right, from) => change(right, from) ?? right,
})
const at = (place: number, text: (right: string) => string) =>
  headers((right, from) => {
    const index = place - from
    if (right[index] !== undefined) right[index] = text(right[index])
    return right
  })
/** A chain whose last block is another. */
const last = (plan: object): Lie => {
  const { book: other } = lightWorld({ miners: true, plan: atTip(plan) })
  return { book: other, lies: { answer: ({ did }) => other.answer(did, { height: minedHeight }) } }
}
export const minedLies: readonly (readonly [string, string, Lie])[] = [
  ['74 a header that does not link', 'work-link', { lies: headers((right) => right.filter((_, i) => i !== 3)) }],
  ['75 easier bits', 'work-bits', last({ header: { bits: 0x207ffffe } })],
  [
    '76 the AuxPow of another block',
    'work-proof',
    {
      lies: at(5, (right) =>
        encodeBase64url(concat(bytes(right).slice(0, 84), bytes(mined.book.headers(6, 1)[0] as string).slice(84))),
      ),
    },
  ],

  ['77 too little work', 'work-proof', { lies: at(5, (right) => withoutWork(right)) }],
  ['78 a time out of range', 'work-time', last({ time: worldTime + 10 })],
  [
    '78 a time ahead of the clock',
    'work-time',
    { lies: honestMiners, options: { now: () => (mined.book.tip.time - 7201) * 1000 } },
  ],
  [
    '79 a block off the best chain',
    'work-chain',
    {
      lies: {
        ...honestMiners,
        answer: ({ did }) =>
          lightWorld({ miners: true, plan: (one) => (one === minedHeight ? { padding: 3 } : {}) }).book.answer(did, {
            height: minedHeight,
          }),
      },
    },
  ],
  [
    '80 a block that is too shallow',
    'work-depth',
    { lies: { answer: ({ did }) => mined.book.answer(did, { height: minedHeight + 1 }) } },
  ],
]

/** A full header with another nonce of its parent, of too little work. */
function withoutWork(text: string): string {
  const all = bytes(text)
  for (let nonce = 0; ; nonce++) {
    new DataView(all.buffer).setUint32(all.length - 5, nonce, true)
    const parent = all.slice(all.length - 81, all.length - 1)
    if ((sha256(sha256(parent))[31] as number) >= 0x80) return encodeBase64url(all)
  }
}
