import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { multisigCode, parameterOf, programHashOf } from '../../../src/base/primitives/program.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, fieldsOf, outputOf, personHash } from '../../../test/support/builders/blocks.js'
import { type Holder, holder } from '../../../test/support/builders/did.js'
import { quickSigner } from '../../../test/support/builders/signatures.js'
import { type Attack, purses, type Scene } from './scene.js'

/** Transactions that are expensive to check: valid ones, which are paid for, and invalid ones, which cost nothing. */

/** Characters of the service of a big document. */
const bigDocument = 100_000
const credentials = 20
/** The prerequisite of an attack is not in a block. */
const notYet = new Error('not yet')
/** As many as the pool accepts: enough at once for a block of some megabytes. */
const wideOutputs = 2_900
const wideTogether = 16
const multisigKeys = 16

const bigService = { id: '#big', type: 'Big', serviceEndpoint: `https://example.com/${'a'.repeat(bigDocument)}` }

let issuer: { readonly holder: Holder; readonly txid: string } | undefined
let previous: Holder | undefined
let wide: readonly Transaction[] | undefined
let multisig: { readonly keys: ReturnType<typeof quickSigner>[]; readonly funding: Transaction } | undefined

export const transactionAttacks: Readonly<Record<string, Attack>> = {
  'credentials of a big issuer': async (scene) => {
    if (issuer === undefined) {
      const born = holder()
      const create = paid(scene, purses.issuer, born.create({ services: [bigService] }))
      await scene.pay(purses.issuer, create)
      issuer = { holder: born, txid: create.txid }
    }
    if ((await scene.minedIn(issuer.txid)) === undefined) throw notYet
    const { holder: by } = issuer
    const subject = holder()
    const wrong = Array.from({ length: credentials }, (_, i) => otherwise(by.issue(subject.did, { id: `#c${i}` })))
    // Neither the coin nor a signature exists.
    const costless = craftCostless(scene, subject.create({ credentials: wrong }))
    for (let i = 0; i < 3; i++) await scene.sendInVain(costless)
    const right = [by.issue(subject.did, { id: '#c' })]
    await scene.pay(purses.issuer, paid(scene, purses.issuer, subject.create({ credentials: right })))
  },
  'deactivates of big documents': async (scene) => {
    const last = previous
    previous = undefined
    if (last !== undefined) await scene.pay(purses.documents, paid(scene, purses.documents, last.deactivate()))
    if (last !== undefined) await scene.sendInVain(craftCostless(scene, last.deactivate()))
    const next = holder()
    await scene.pay(purses.documents, paid(scene, purses.documents, next.create({ services: [bigService] })))
    previous = next
  },
  'double spends of wide transactions': async (scene) => {
    wide ??= await sendWide(scene)
    const coin = outputOf(wide[0] as Transaction)
    if (scene.big === undefined) {
      scene.big = await blockOfMost(scene, wide)
      await scene.send(craft(scene.spec, [coin], [{ to: 50, value: 100n }], [purses.wide]))
    }
    for (let i = 0; i < 20; i++) {
      const value = BigInt(101 + i)
      await scene.sendInVain(craft(scene.spec, [coin], [{ to: 50, value }], [purses.wide]))
    }
  },
  'wrong multisigs': async (scene) => {
    if (multisig === undefined) {
      const keys = Array.from({ length: multisigKeys }, quickSigner)
      const to = programHashOf(codeOf(keys), { kind: 'multisig', keys: [], required: multisigKeys })
      const outputs = Array.from({ length: 64 }, () => ({ to, value: 100_000n }))
      const funding = scene.build(purses.multisig, outputs)
      await scene.pay(purses.multisig, funding)
      multisig = { keys, funding }
    }
    const { keys, funding } = multisig
    const unsigned = craft(scene.spec, [outputOf(funding, 0)], [{ to: 50, value: BigInt(Date.now() % 90_000) }], [], {
      programs: [],
    })
    const signatures = keys.map((key) => key.sign(unsigned.unsigned))
    // All but the last key of the script sign.
    const parameter = parameterOf([...signatures.slice(1), signatures[1] as Uint8Array])
    const wrong = new Transaction({ ...fieldsOf(unsigned), programs: [{ code: codeOf(keys), parameter }] })
    for (let i = 0; i < 5; i++) await scene.sendInVain(wrong)
  },
}

function codeOf(keys: readonly { readonly publicKey: Uint8Array }[]): Uint8Array {
  return multisigCode(
    multisigKeys,
    keys.map(({ publicKey }) => publicKey),
  )
}

/** A transaction with an operation that a person pays for. */
export function paid(scene: Scene, person: number, operation: DidOperation): Transaction {
  return scene.build(person, [], { payload: { type: 10, operation } })
}

async function sendWide(scene: Scene): Promise<Transaction[]> {
  // A key per output would take a minute to derive.
  const to = personHash(purses.wide)
  const outputs = Array.from({ length: wideOutputs }, () => ({ to, value: 1000n }))
  const sent: Transaction[] = []
  for (let i = 0; i < wideTogether; i++) {
    const split = scene.build(purses.wide, outputs)
    await scene.pay(purses.wide, split)
    sent.push(split)
  }
  return sent
}

/** The block with most of some transactions; throws while one of them is in none. */
async function blockOfMost(scene: Scene, transactions: readonly Transaction[]): Promise<NonNullable<Scene['big']>> {
  const found = await Promise.all(transactions.map(({ txid }) => scene.minedIn(txid)))
  const all = found.flatMap((block) => block ?? [])
  if (all.length < found.length) throw notYet
  const count = ({ hash }: { hash: string }) => all.filter((other) => other.hash === hash).length
  return all.reduce((most, next) => (count(next) > count(most) ? next : most))
}

/** The same for a sender without a coin. */
function craftCostless({ spec }: Scene, operation: DidOperation): Transaction {
  const outputs = [{ to: personHash(50), value: 1000n }]
  return craft(spec, [{ txid: new Uint8Array(32).fill(9), index: 0 }], outputs, [50], {
    payload: { type: 10, operation },
  })
}

/** A credential whose proof is of another text. */
function otherwise(credential: string): string {
  return credential.replace('"Ada"', '"Eve"')
}
