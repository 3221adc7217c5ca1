import { useEffect, useState } from 'preact/hooks'
import { live } from '../ask/live-events.js'
import { ask, askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import type { BlockList, DidCount, OperationList, ShownTransaction } from '../ask/shapes.js'
import { useAnswer, useCall, useLive } from '../ask/use-answer.js'
import { HistoryNote } from '../parts/history.js'
import { Answered, Panel, Table } from '../parts/panel.js'
import { Ago, Amount, TransactionName } from '../parts/values.js'
import { linkTo } from '../route.js'
import { bytes, whole } from '../text/numbers.js'
import { typeName } from '../text/type-names.js'
import { BlockTable } from './blocks.js'
import { OperationTable } from './operations.js'
import { feeOf, spentOutputs } from './spent-outputs.js'

/** The first page: what the node is, and what happens on its chain now. */

const rows = 12

export function Home() {
  const blocks = useCall<BlockList>('listblocks', { limit: rows })
  const operations = useCall<OperationList>('listdidoperations', { limit: rows })
  return (
    <>
      <h1 class="unseen">What happens on this chain</h1>
      <Summary />
      <HistoryNote />
      <div class="columns">
        <Panel title="Blocks" note={<a href={linkTo('blocks')}>all</a>}>
          <Answered answer={blocks}>{({ blocks: list }) => <BlockTable blocks={list} />}</Answered>
        </Panel>
        <Panel title="Transactions as they come">
          <LatestTransactions />
        </Panel>
      </div>
      <Panel title="Operations of DIDs" note={<a href={linkTo('operations')}>all</a>}>
        <Answered answer={operations}>{({ operations: list }) => <OperationTable operations={list} />}</Answered>
      </Panel>
    </>
  )
}

interface Overview {
  readonly chain: string
  readonly version: string
  readonly pooled: number
  readonly peers: number
  readonly dids: DidCount | undefined
}

async function overview(signal: AbortSignal): Promise<Overview> {
  const [mining, state, count] = await askAll<unknown>([['getmininginfo'], ['getnodestate'], ['countdids']], signal)
  if (mining instanceof Refusal) throw mining
  if (state instanceof Refusal) throw state
  const { chain, pooledtx } = mining as { chain: string; pooledtx: number }
  const { Compile, Neighbors } = state as { Compile: string; Neighbors: readonly unknown[] }
  const dids = count instanceof Refusal ? undefined : (count as DidCount)
  return { chain, version: Compile, pooled: pooledtx, peers: Neighbors.length, dids }
}

function Summary() {
  const { height } = useLive()
  const { value } = useAnswer(overview, ['overview'])
  const tip = useCall<BlockList>('listblocks', { limit: 1 }).value?.blocks[0]
  const dids = value?.dids
  return (
    <div class="stats" role="group" aria-label="summary of the node">
      <Stat name="Height" value={height === undefined ? '…' : whole(height)} />
      <Stat name="Last block" value={tip === undefined ? '…' : <Ago time={tip.time} />} />
      <Stat
        name="DIDs"
        value={dids === undefined ? '…' : whole(dids.total)}
        note={dids === undefined ? undefined : `${whole(dids.deactivated)} deactivated`}
      />
      <Stat name="Waiting" value={value === undefined ? '…' : whole(value.pooled)} note="transactions" />
      <Stat name="Peers" value={value === undefined ? '…' : whole(value.peers)} />
      <Stat
        name="Chain"
        value={value?.chain ?? '…'}
        note={value === undefined ? undefined : `version ${value.version}`}
      />
    </div>
  )
}

function Stat({ name, value, note }: { name: string; value: preact.ComponentChildren; note?: string | undefined }) {
  return (
    <div class="stat">
      <div class="stat-name">{name}</div>
      <div class="stat-value">{value}</div>
      <div class="stat-note">{note ?? '\u00a0'}</div>
    </div>
  )
}

interface Latest {
  readonly txid: string
  readonly type: number
  readonly size: number
  readonly fee?: string
}

/** Transactions that the pool took while this page is open, above those that waited, or were mined last, before. */
function LatestTransactions() {
  const [arrived, setArrived] = useState<readonly Latest[]>([])
  useEffect(
    () =>
      live.listen((event) => {
        if (event.topic !== 'transaction') return
        const { txid, type, size, fee } = event
        setArrived((before) => [{ txid, type, size, fee }, ...before].slice(0, rows))
      }),
    [],
  )
  const earlier = useAnswer(latest, ['latest'], { every: 'once' })
  const seen = new Set(arrived.map(({ txid }) => txid))
  return (
    <Answered answer={earlier}>
      {(list) => (
        <Table
          caption="the latest transactions"
          rows={[...arrived, ...list.filter(({ txid }) => !seen.has(txid))].slice(0, rows)}
          keyOf={({ txid }) => txid}
          fresh={({ txid }) => seen.has(txid)}
          empty="No transaction yet."
          columns={[
            ['Transaction', ({ txid }) => <TransactionName text={txid} />],
            ['Type', ({ type }) => typeName(type)],
            ['Size', ({ size }) => bytes(size), 'number spare'],
            ['Fee', ({ fee }) => (fee === undefined ? '' : <Amount text={fee} />), 'number'],
          ]}
        />
      )}
    </Answered>
  )
}

/** Most ids of the pool that are asked for at once: a larger pool is left to the events. */
const poolAtOnce = 2000

/** Blocks that are looked at for transactions. */
const blocksLookedAt = 100

/** Transactions that wait, newest first, then those of the last blocks but for their coinbases. */
async function latest(signal: AbortSignal): Promise<Latest[]> {
  const { pooledtx } = await ask<{ pooledtx: number }>('getmininginfo', {}, signal)
  const waiting = pooledtx > poolAtOnce ? [] : await ask<string[]>('getrawmempool', {}, signal)
  const ids = waiting.slice(-rows).reverse()
  if (ids.length < rows) ids.push(...(await lastMined(signal)))
  const calls = ids.slice(0, rows).map((txid) => ['getrawtransaction', { txid, verbose: true }] as const)
  const found = (await askAll<ShownTransaction>(calls, signal)).flatMap((one) => (one instanceof Refusal ? [] : [one]))
  return Promise.all(
    found.map(async (one) => {
      const fee = feeOf(one, await spentOutputs(one, signal))
      return { txid: one.txid, type: one.type, size: one.size, ...(fee === undefined ? {} : { fee }) }
    }),
  )
}

async function lastMined(signal: AbortSignal): Promise<string[]> {
  const { blocks } = await ask<BlockList>('listblocks', { limit: blocksLookedAt }, signal)
  const calls = blocks
    .filter(({ transactions }) => transactions > 1)
    .slice(0, rows)
    .map(({ hash }) => ['getblock', { blockhash: hash, verbosity: 1 }] as const)
  const found = await askAll<{ tx: string[] }>(calls, signal)
  return found.flatMap((block) => (block instanceof Refusal ? [] : block.tx.slice(1).slice(-rows).reverse()))
}
