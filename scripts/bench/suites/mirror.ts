import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { openStaticServer } from '../../../src/answers/api/servers/static-server.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { runBounded } from '../../../src/base/runtime/run-bounded.js'
import { devnetValidatorKey, localnetValidatorCount } from '../../../src/clients/wallet/devnet-accounts.js'
import { type TrustJson, trustOf } from '../../../src/identity/proofs/make-trust.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { FolderStore } from '../../../src/ledger/mirror/folder-store.js'
import type { Mirror } from '../../../src/ledger/mirror/mirror.js'
import { syncFile } from '../../../src/ledger/storage/replace-file.js'
import { craftConfirm } from '../../../test/support/builders/blocks.js'
import { type Holder, holder } from '../../../test/support/builders/did.js'
import { mirrorOf } from '../../../test/support/builders/mirrored.js'
import { plainDocument } from '../chain-of-dids.js'
import { CountingStore, type StoreCalls } from '../counting-store.js'
import { didSizes } from '../did-rows.js'
import { median, type Spent, spentOn, timeOf } from '../measure.js'
import type { MirrorQuestion, MirrorReadings } from '../mirror-reader.js'
import { end, forkedBare, said } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import {
  fundedSpec,
  mineBlock,
  type Payer,
  quiet,
  recent,
  selfTransfer,
  withChain,
  withDirectory,
} from '../workshop.js'

/** Operations of a block that is mirrored, and such blocks; the first ones only fill caches and lists of files to delete. */
const operations = 500
const rounds = { warmUp: 3, measured: 5 }
const createsOfBlock = 1000
/** Blocks whose files stay: fewer than usual, so that each measured step deletes those that a block before made superfluous. */
const keepBlocks = 2
/** DIDs that new readers ask for; those that one reader asks for until it knows the upper pages, and those asked for then. */
const asked = { cold: 200, before: 1200, next: 300 }
/** Files that are written bare, to compare with. */
const bareFiles = 2500
const keys = Array.from({ length: localnetValidatorCount }, (_, i) => devnetValidatorKey(i))

/** A DID and the transaction of its last operation. */
interface Owned {
  readonly person: Holder
  txid: string
}

/** A chain with confirms of four validators, and DIDs of it to change. */
interface Made {
  readonly chain: Chain
  readonly payers: readonly Payer[]
  readonly owned: readonly Owned[]
}

/** A mirror in a folder of a chain with validators: its first run, blocks of 500 updates, and readers who know its files alone. */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of didSizes([10_000])) rows.push(...(await atSize(size)))
  return rows
}

async function atSize(size: number): Promise<Row[]> {
  const { spec, payers } = fundedSpec(createsOfBlock, 'localnet', recent())
  return withChain(spec, async (chain) => {
    const made = await makeDids(chain, payers, size)
    return withDirectory(async (directory) => {
      const folder = join(directory, 'mirror')
      const store = new CountingStore(await FolderStore.open(folder))
      const mirror = mirrorOf({ chain, database: chain.database, spec }, store, { now: Date.now, keepBlocks })
      try {
        const bare = await bareCost(directory)
        return [
          ...(await firstRun(mirror, store, { size, bare })),
          ...(await mirroring(made, mirror, store, { size, bare })),
          ...(await reading(made, directory, size)),
        ]
      } finally {
        await mirror.close()
      }
    })
  })
}

async function firstRun(
  mirror: Mirror,
  store: CountingStore,
  { size, bare }: { readonly size: number; readonly bare: Bare },
): Promise<Row[]> {
  const spent = await spentOn(() => mirror.once())
  const { files, bytes, leaves, leafBytes, headBytes } = store.take()
  const dids = `${shown(size)} DIDs`
  return [
    row(`first run of a mirror, ${dids}`, processorTime(spent) / 1000, 's', { most: (90 * size) / 100_000 }),
    row('  the same, against as many files written bare', processorTime(spent) / files, 'ms a file', {
      ratio: [processorTime(spent) / files / bare.spent, 'bare'],
      most: 2.5,
    }),
    row('  by the clock', spent.wall / 1000, 's'),
    row('  files', files, ''),
    row('  bytes', bytes / 1e6, 'MB'),
    row('  bytes of a leaf', leafBytes / leaves, 'B'),
    row('  of a page', (bytes - leafBytes) / (files - leaves), 'B'),
    row('  of the head', headBytes, 'B'),
  ]
}

async function mirroring(
  made: Made,
  mirror: Mirror,
  store: CountingStore,
  { size, bare }: { readonly size: number; readonly bare: Bare },
): Promise<Row[]> {
  const steps: (Spent & StoreCalls & { readonly untilHead: number })[] = []
  for (let round = 0; round < rounds.warmUp + rounds.measured; round++) {
    await updateBlock(made)
    const began = performance.now()
    const spent = await spentOn(() => mirror.once())
    const calls = store.take()
    if (round >= rounds.warmUp) steps.push({ ...spent, ...calls, untilHead: calls.headAt - began })
  }
  const middle = (of: (step: (typeof steps)[number]) => number) => median(steps.map(of))
  const cost = middle(processorTime)
  return [
    row(`a block of ${operations} updates into the mirror, ${shown(size)} DIDs`, cost / 1000, 's', { most: 1.5 }),
    row('  the same, against as many files written bare', cost, 'ms', {
      ratio: [cost / (middle(({ files, replaced }) => files + replaced) * bare.spent), 'bare'],
      most: 2.5,
    }),
    row('  until its head is written, by the clock', middle(({ untilHead }) => untilHead) / 1000, 's', { most: 1 }),
    row(
      '  the same, against as many files written bare',
      middle(({ untilHead }) => untilHead),
      'ms',
      {
        ratio: [middle(({ untilHead, files }) => untilHead / (files * bare.wall)), 'bare'],
        most: 2.5,
      },
    ),
    row(
      '  files',
      middle(({ files, replaced }) => files + replaced),
      '',
      { most: 2500 },
    ),
    row('  bytes', middle(({ bytes, replacedBytes }) => bytes + replacedBytes) / 1e6, 'MB', { most: 2.2 }),
    row('  of them the head and own notes', middle(({ replacedBytes }) => replacedBytes) / 1e6, 'MB'),
    row(
      '  files deleted',
      middle(({ deleted }) => deleted),
      '',
    ),
  ]
}

function processorTime({ main, others }: Spent): number {
  return main + others
}

/** Reads DIDs as light resolvers do that know the mirror alone, in a process that shares nothing with the chain. */
async function reading({ chain, owned }: Made, directory: string, size: number): Promise<Row[]> {
  const server = await openStaticServer({
    folder: join(directory, 'mirror'),
    hosts: ['127.0.0.1'],
    port: 0,
    log: quiet,
  })
  const reader = await forkedBare(new URL('../mirror-reader.ts', import.meta.url), directory)
  try {
    const question: MirrorQuestion = {
      base: `http://${server.addresses[0]}`,
      trust: trustOf(chain.spec) as TrustJson,
      now: chain.tip.header.time * 1000,
      dids: owned.slice(0, asked.cold + asked.before + asked.next).map(({ person }) => person.did),
      ...asked,
    }
    const answered = said<MirrorReadings>(reader)
    reader.send(question)
    const { cold, next, elsewhere } = await answered
    return [
      row(`a DID from the mirror by a new reader, ${shown(size)} DIDs`, cold.requests, 'requests', { most: 9 }),
      row('  bytes but the document', cold.bytes, 'B', { most: 9000 }),
      row('  processor time of its checks', cold.checks, 'ms', { most: 5 }),
      row('a DID by a reader who has asked before', next.requests, 'requests', { most: 4 }),
      row('  bytes but the document', next.bytes, 'B', { most: 4000 }),
      row('  processor time of its checks', next.checks, 'ms', { most: 5 }),
      row('requests of all readers to others than the mirror', elsewhere, '', { most: 0 }),
    ]
  } finally {
    await end(reader)
    await server.close()
  }
}

/** Milliseconds of a file that is written bare: of processor time, and by the clock. */
interface Bare {
  readonly spent: number
  readonly wall: number
}

/** Writes files of 900 bytes below another name, synced and renamed, as many at a time as the mirror. */
async function bareCost(directory: string): Promise<Bare> {
  const folder = join(directory, 'bare')
  await mkdir(folder)
  const bytes = new Uint8Array(900).fill(7)
  const spent = await spentOn(() =>
    runBounded(Array(bareFiles).keys(), 32, async (i) => {
      const [made, name] = [join(directory, `new-${i}`), join(folder, String(i))]
      const file = await open(made, 'wx')
      await file.writeFile(bytes)
      await syncFile(file)
      await file.close()
      await rename(made, name)
    }),
  )
  return { spent: processorTime(spent) / bareFiles, wall: spent.wall / bareFiles }
}

/** Creates DIDs in blocks; the first ones are kept, to be changed: their keys are as random as those of all. */
async function makeDids(chain: Chain, payers: readonly Payer[], size: number): Promise<Made> {
  const owned: Owned[] = []
  const wanted = operations * (rounds.warmUp + rounds.measured)
  const took = await timeOf(async () => {
    for (let left = size; left > 0; left -= createsOfBlock) {
      const people = payers.slice(0, left).map(() => holder())
      const transactions = people.map((person, i) => {
        const operation = person.create(plainDocument)
        return selfTransfer(payers[i] as Payer, chain.sanity.assetId, { payload: { type: 10, operation } })
      })
      await mineOn(chain, transactions)
      for (const [i, person] of people.entries()) {
        if (owned.length < wanted) owned.push({ person, txid: (transactions[i] as Transaction).txid })
      }
    }
  })
  console.error(`  ${size} DIDs made in ${Math.round(took / 1000)} s`)
  return { chain, payers, owned }
}

/** A block with an update of the next DIDs. */
async function updateBlock({ chain, payers, owned }: Made): Promise<void> {
  const some = (owned as Owned[]).splice(0, operations)
  const transactions = some.map(({ person, txid }, i) => {
    const operation = person.update(txid, plainDocument)
    return selfTransfer(payers[i] as Payer, chain.sanity.assetId, { payload: { type: 10, operation } })
  })
  await mineOn(chain, transactions)
  // They are asked for, and changed once more where there are few.
  for (const [i, one] of some.entries())
    (owned as Owned[]).push({ ...one, txid: (transactions[i] as Transaction).txid })
}

async function mineOn(chain: Chain, transactions: readonly Transaction[]): Promise<void> {
  const block = await mineBlock(chain, transactions)
  await chain.acceptBlock(block.bytes, confirmBytes(craftConfirm(chain.spec, block, { voters: [0, 1, 2], keys })))
}
