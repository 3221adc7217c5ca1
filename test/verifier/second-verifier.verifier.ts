import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../src/base/crypto/quick-signer.js'
import { formatDate } from '../../src/identity/did/date.js'
import { encodeBase64url } from '../../src/identity/did/base64url.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { checkDidAnswer } from '../../src/identity/proofs/did-answer.js'
import type { DidQuestion } from '../../src/identity/proofs/did-question.js'
import { ProofError } from '../../src/identity/proofs/proof-failure.js'
import { keysInForce } from '../../src/identity/proofs/validator-list.js'
import { didMapKey } from '../../src/identity/proofs/map-tree.js'
import { settle } from '../support/assert/settle.js'
import { type Holder, holder } from '../support/builders/did.js'
import { paperGenesis, ProofBook, type Team } from '../support/builders/proof-book.js'
import { SeededRandom } from '../support/builders/seeded-random.js'
import type { Json } from '../support/fakes/light-server.js'
import { rounds } from '../support/process/thorough.js'

/** The checks of proofs and a verifier written apart from them agree on what holds, and on why something does not. */

const script = fileURLToPath(new URL('../support/tools/second_verifier.py', import.meta.url))

const worldTime = 1_780_000_000
const people = Array.from({ length: 5 }, () => holder())
const signers = Array.from({ length: 5 }, () => quickSigner())

interface Line {
  readonly genesis: string
  readonly teams: readonly (readonly [number, readonly string[]])[]
  readonly question: DidQuestion
  readonly answer: unknown
  /** Unix seconds. */
  readonly now: number
}

/** A chain with random operations; some of its last blocks are taken back and made otherwise. */
function randomBook(random: SeededRandom): ProofBook {
  const team = (height: number): Team => ({
    height,
    signers: signers.slice(random.below(2), 2 + random.below(4)),
  })
  const book = new ProofBook(paperGenesis(`${random.below(1e9)}`, worldTime), [team(1), team(3 + random.below(4))])
  const blocks = 4 + random.below(5)
  while (book.pages.length < blocks) {
    book.make({
      operations: operationsOf(book, random),
      padding: random.below(4),
      time: book.tip.time + random.below(9),
    })
    if (random.below(5) === 0 && book.pages.length > 2) book.pop()
  }
  return book
}

function operationsOf(book: ProofBook, random: SeededRandom): DidOperation[] {
  return people.flatMap((one) => {
    if (random.below(3) > 0) return []
    const history = book.history(didMapKey(one.did), book.tip.height)
    const last = history.at(-1)
    if (last?.operation === 3) return []
    const expires = random.below(4) === 0 ? formatDate(worldTime + random.below(60)) : '2031-01-01T00:00:00Z'
    const services = random.below(2) === 0 ? [] : [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }]
    if (last !== undefined && random.below(5) === 0) return [one.deactivate()]
    const previous = last && book.shown(last, one.did).txid
    const operation =
      previous === undefined ? one.create({ expires, services }) : one.update(previous, { expires, services })
    return [random.below(30) === 0 ? unproved(operation) : operation]
  })
}

/** With a document whose own proof does not verify. */
function unproved(operation: DidOperation): DidOperation {
  const text = Buffer.from(operation.payload, 'base64url').toString()
  return { ...operation, payload: encodeBase64url(Buffer.from(text.replace(/"expires":"20\d\d/, '"expires":"2040'))) }
}

function randomQuestion(book: ProofBook, random: SeededRandom): DidQuestion {
  const { did } = people[random.below(people.length)] as Holder
  const history = book.history(didMapKey(did), book.tip.height)
  const choice = random.below(5)
  if (choice === 0) return { did: `did:ledger:absent${random.below(99)}` }
  if (choice === 1) return { did, all: true }
  if (choice === 2) return { did, versionTime: formatDate(worldTime + random.below(60)) }
  const entry = history[random.below(Math.max(1, history.length))]
  if (choice === 3 && entry !== undefined) return { did, versionId: book.shown(entry, did).txid }
  return { did }
}

/** An answer with something in it changed. */
function spoiled(answer: Json, books: readonly ProofBook[], question: DidQuestion, random: SeededRandom): Json {
  const [book, other] = books as [ProofBook, ProofBook]
  const { anchor, maps } = answer.proof
  const [map] = maps
  const transaction = answer.transaction?.[0]
  const height = 1 + random.below(book.tip.height)
  const elsewhere = people[random.below(people.length)] as Holder
  const changes: readonly (() => unknown)[] = [
    () => (answer.status = random.below(4)),
    () => (answer.proof.anchor = book.anchor(height)),
    () => (answer.proof.anchor = other.anchor(1 + random.below(other.tip.height))),
    () => (maps[0] = book.map(didMapKey(question.did), height)),
    () => (maps[0] = book.map(didMapKey(elsewhere.did), book.tip.height)),
    () => maps.push(map),
    () => (anchor.header = flipped(anchor.header, random)),
    () => (anchor.coinbase = flipped(anchor.coinbase, random)),
    () => (anchor.branch = flipped(anchor.branch, random)),
    () => (anchor.confirm = flipped(anchor.confirm, random)),
    () => (anchor.confirm = anchor.confirm.slice(0, random.below(anchor.confirm.length))),
    () => (anchor.root = 'ab'.repeat(32)),
    () => (map.path = flipped(map.path, random)),
    () => (map.path = `${map.path}A`),
    () => (map.depth += random.below(3) - 1),
    () => map.history && (map.history.entries = flipped(map.history.entries, random)),
    () => map.history && (map.history.count += 1 + random.below(2)),
    () => map.history && (map.history.state = random.below(4)),
    () => map.history && (map.history.base = '00'.repeat(32)),
    () => delete map.history,
    () =>
      (map.leaf = encodeBase64url(
        Buffer.concat([didMapKey(random.below(2) ? question.did : elsewhere.did), new Uint8Array(32)]),
      )),
    () => transaction && (transaction.txid = '00'.repeat(32)),
    () => transaction && (transaction.timestamp = formatDate(worldTime)),
    () => transaction && (transaction.operation.payload = question.did),
    () => transaction && (transaction.operation.header.operation = 'create'),
    () => transaction && delete transaction.operation.header.previousTxid,
    () => answer.transaction && answer.transaction.pop(),
    () => answer.transaction && answer.transaction.push(answer.transaction[0] ?? {}),
    () => answer.transaction && answer.transaction.reverse(),
    () => (answer.did = elsewhere.did),
    () => (answer.proof.chain = '00'.repeat(32)),
    () => (answer.proof.format = 'didledger/proof/2'),
    () => delete answer.proof,
    () => (anchor.coinbase = `${anchor.coinbase}=`),
    () => Object.assign(answer, JSON.parse(JSON.stringify(book.answer(question.did, { height })))),
    () => Object.assign(answer, JSON.parse(JSON.stringify(book.answer(question.did, { proof: 'history' })))),
  ]
  changes[random.below(changes.length)]?.()
  return answer
}

function flipped(text: string, random: SeededRandom): string {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length === 0) return 'AA'
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
  return bytes.toString('base64url')
}

/** What the first verifier says of a line. */
function verdict({ question, answer, now }: Line, book: ProofBook): string {
  const lists = book.teams.map(({ height, signers: some }) => ({
    height,
    keys: some.map(({ publicKey }) => publicKey),
  }))
  const chain = { genesis: book.genesis, keysAt: (height: number) => keysInForce(lists, height) }
  try {
    const { status, history } = settle(checkDidAnswer(answer, question, { ...chain, now: now * 1000 }))
    return `ok ${status} ${history?.count ?? 0}`
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    return error.failure
  }
}

describe('a second verifier', () => {
  it(`agrees on ${rounds(300, 10_000)} random histories`, () => {
    const seed = Number(process.env['SEED'] ?? 7)
    const random = new SeededRandom(seed)
    const lines: string[] = []
    const verdicts: string[] = []
    let other = randomBook(random)
    for (let i = 0; i < rounds(300, 10_000); i++) {
      const book = randomBook(random)
      for (let n = 0; n < 4; n++) {
        const question = randomQuestion(book, random)
        const height = random.below(3) > 0 ? book.tip.height : 1 + random.below(book.tip.height)
        const now = book.tip.time + random.below(30)
        const proof = random.below(2) === 0 ? ('history' as const) : true
        const right = JSON.parse(
          JSON.stringify(book.answer(question.did, { ...question, height, proof } as object, now)),
        ) as Json
        const answer = n % 2 === 0 ? right : spoiled(right, [book, other], question, random)
        const teams = book.teams.map(
          (team) => [team.height, team.signers.map(({ publicKey }) => toHex(publicKey))] as const,
        )
        const line: Line = { genesis: toHex(book.genesis), teams, question, answer, now }
        lines.push(JSON.stringify(line))
        verdicts.push(verdict(JSON.parse(JSON.stringify(line)) as Line, book))
      }
      other = book
    }
    const { stdout, stderr, status } = spawnSync('python3', [script], { input: lines.join('\n'), maxBuffer: 1 << 30 })
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' })
    const others = stdout.toString().trim().split('\n')
    expect(others).toHaveLength(verdicts.length)
    const difference = others.findIndex((one, i) => one !== verdicts[i])
    const where = difference < 0 ? '' : `seed ${seed}: ${lines[difference]}`
    expect([others[difference], where]).toEqual([verdicts[difference], ''])
    // Of everything something.
    const kinds = new Set(verdicts.map((one) => one.split(' ')[0]))
    expect(kinds.size).toBeGreaterThan(15)
    expect(verdicts.filter((one) => one.startsWith('ok')).length).toBeGreaterThan(verdicts.length / 3)
  })
})
