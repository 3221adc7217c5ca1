import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { holder } from '../../../test/support/builders/did.js'
import { paperGenesis, ProofBook } from '../../../test/support/builders/proof-book.js'
import { quickSigner } from '../../../test/support/builders/signatures.js'
import type { MapProofJson } from '../../../src/identity/did/state-proof.js'
import { bundleLater, lightLater, stop } from '../../../test/support/web/bundle.js'
import { runInChromium } from '../../../test/support/web/chromium.js'
import { type LightInput, type LightTimes, lightTimes } from '../light-rounds.js'
import { type Row, row, shown } from '../report.js'

const validators = 4
const transactions = 1000
/** Changes of validators, with what following them may take: in ms, from genesis to the first answer. */
const lengths = [
  { changes: 10, most: 20 },
  { changes: 20, most: 50 },
]
const people = 16
/** Milliseconds that each further answer may take. */
const mostNext = 2

/** Measures the sizes of proofs, and the times to check them in Node and in Chromium, without any network. */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = [...sizes(), await bundleSize()]
  for (const { changes, most } of lengths) {
    const input = chainOf(changes)
    rows.push(...timesOf(await lightTimes(input), 'Node', { changes, most }))
    const page = await inChromium(input)
    if (page !== undefined) rows.push(...timesOf(page, 'Chromium', { changes, most }))
  }
  await stop()
  return rows
}

function timesOf({ first, next }: LightTimes, where: string, { changes, most }: (typeof lengths)[number]): Row[] {
  return [
    row(`light resolver, ${changes} changes and the first answer, ${where}`, first, 'ms', { most }),
    row('  each answer after that', next, 'ms', { most: mostNext }),
  ]
}

/** A chain with so many changes of validators, and the answers of an honest server. */
function chainOf(changes: number): LightInput {
  const team = () => Array.from({ length: validators }, () => quickSigner())
  const teams = Array.from({ length: changes + 1 }, (_, i) => ({ height: 1 + 2 * i, signers: team() }))
  const book = new ProofBook(paperGenesis('bench', 1_780_000_000), teams)
  const holders = Array.from({ length: people }, () => holder())
  book.make({ operations: holders.map((one) => one.create()), padding: transactions })
  while (book.pages.length < 2 * changes + 3) book.make()
  const dids = holders.map(({ did }) => did)
  return {
    trust: book.trust(),
    now: book.tip.time * 1000,
    dids,
    answers: Object.fromEntries(dids.map((did) => [did, book.answer(did)])),
    changes: book.changes(1),
  }
}

/** Parts of the proof of a DID in a block of many transactions, but for its path, which depends on the number of DIDs. */
function sizes(): Row[] {
  const signers = Array.from({ length: validators }, () => quickSigner())
  const book = new ProofBook(paperGenesis('bench', 1_780_000_000), [{ height: 1, signers }])
  const one = holder()
  book.make({ operations: [one.create()] })
  book.make({ padding: transactions - 1 })
  const { proof } = book.answer(one.did)
  const { header, coinbase, branch, confirm = '' } = proof.anchor
  const [map] = proof.maps as MapProofJson[]
  const decoded = [header, coinbase, branch, confirm, map?.history?.entries ?? ''].map((text) => (text.length * 3) / 4)
  const bytes = decoded.reduce((sum, size) => sum + size, 0)
  const json = JSON.stringify(proof).length - (map?.path ?? '').length
  const what = `proof, ${validators} validators, ${shown(transactions)} transactions, without its path`
  return [row(what, bytes, 'B', { most: 1100 }), row('  as JSON', json, 'B', { most: 1650 })]
}

/** Measures the bytes that a page loads to check an answer about a DID. */
async function bundleSize(): Promise<Row> {
  const { text } = await bundleLater(
    "import { LightResolver } from './src/node/library/light-entry.ts'; globalThis.light = LightResolver",
    { external: lightLater.map((name) => `*/${name}`) },
  )
  return row('didledger/light, gzip', gzipSync(text, { level: 9 }).length / 1000, 'kB', { most: 20 })
}

/** The same in a page; undefined where there is no Chromium. */
async function inChromium(input: LightInput): Promise<LightTimes | undefined> {
  const program = process.env['CHROMIUM'] ?? 'chromium'
  if (spawnSync(program, ['--version']).error !== undefined) {
    console.error(`left out: Chromium, which is not in PATH, nor named by CHROMIUM`)
    return undefined
  }
  const { text } = await bundleLater(`
    import { lightTimes } from './scripts/bench/light-rounds.ts'
    const input = await (await fetch('/input')).json()
    await fetch('/result', { method: 'POST', body: JSON.stringify(await lightTimes(input)) })
  `)
  return JSON.parse(await runInChromium(text, input)) as LightTimes
}
