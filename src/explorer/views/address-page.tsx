import { useState } from 'preact/hooks'
import { ask } from '../ask/node-rpc.js'
import type { AddressHistory, Coin, ShownTransaction } from '../ask/shapes.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { didOfCode } from '../did/same-key.js'
import { GivenUpNote } from '../parts/history.js'
import { Answered, Facts, Failure, Heading, Pager, Panel, Table } from '../parts/panel.js'
import { RawJson } from '../parts/raw-json.js'
import {
  AddressName,
  Ago,
  Amount,
  BlockHeight,
  BlockNumber,
  Coins,
  DidName,
  Moment,
  OutputName,
  Plain,
  TransactionName,
} from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { coinsOf, counted, unitsOf, whole } from '../text/numbers.js'
import { positionOf, positionText } from './operations.js'

/** An address: its balance, the coins it is made of, and its transactions in pages. */

export function AddressPage({ subject, options }: Route) {
  const balance = useCall<string>('getreceivedbyaddress', { address: subject })
  const newest = useCall<AddressHistory>('getaddresshistory', { address: subject, limit: historyRows })
  return (
    <>
      <Heading kind="Address" />
      <Panel title="Balance">
        <Answered answer={balance}>
          {(text) => (
            <Facts
              rows={[
                ['Address', <AddressName text={subject} whole />],
                [
                  'Balance',
                  <span class="large">
                    <Coins text={text} />
                  </span>,
                ],
                ...usesOf(newest.value),
              ]}
            />
          )}
        </Answered>
      </Panel>
      {balance.value !== undefined && (
        <>
          <History address={subject} before={options.get('before')} />
          <CoinsPanel address={subject} />
          <RawJson method="getaddresshistory" params={{ address: subject, limit: historyRows }} />
        </>
      )}
    </>
  )
}

const historyRows = 50

/** First and last use, the DID of the same key, and the sums, of the newest part of a history. */
function usesOf(newest: AddressHistory | undefined): readonly (readonly [string, preact.ComponentChildren])[] {
  if (newest?.first === undefined || newest.last === undefined) return []
  const use = ({ height, time }: { height: number; time: number }) => (
    <>
      <Moment time={time} /> in block <BlockNumber height={height} />
    </>
  )
  return [
    ['First use', use(newest.first)],
    ['Last use', use(newest.last)],
    ['Totals', <Totals key={newest.address} newest={newest} />],
    ['DID', <OwnDid key={newest.address} newest={newest} />],
  ]
}

interface Sums {
  readonly transactions: number
  readonly received: bigint
  readonly spent: bigint
}

function added(sums: Sums, { transactions }: AddressHistory): Sums {
  return transactions.reduce(
    ({ transactions: count, received, spent }, row) => ({
      transactions: count + 1,
      received: received + (unitsOf(row.received) ?? 0n),
      spent: spent + (unitsOf(row.spent) ?? 0n),
    }),
    sums,
  )
}

const nothing: Sums = { transactions: 0, received: 0n, spent: 0n }

/** Rows that are asked for at once while a long history is added up. */
const rowsAtOnce = 100

/** Sums over the whole history: at once where one page has it, else page by page when the reader wants them. */
function Totals({ newest }: { newest: AddressHistory }) {
  const [wanted, setWanted] = useState(false)
  if (newest.next === undefined) return <Shown sums={added(nothing, newest)} />
  if (wanted) return <AddedUp address={newest.address} />
  return (
    <button type="button" onClick={() => setWanted(true)}>
      Add up more than {whole(newest.transactions.length)} transactions
    </button>
  )
}

function AddedUp({ address }: { address: string }) {
  const [soFar, setSoFar] = useState(nothing)
  const answer = useAnswer(
    async (signal) => {
      let sums = nothing
      let before: AddressHistory['next']
      do {
        const page: AddressHistory = await ask('getaddresshistory', { address, limit: rowsAtOnce, before }, signal)
        sums = added(sums, page)
        before = page.next
        setSoFar(sums)
      } while (before !== undefined)
      return sums
    },
    ['totals', address],
    { every: 'once' },
  )
  if (answer.failure !== undefined) return <Failure of={answer.failure} />
  return <Shown sums={answer.value ?? soFar} unfinished={answer.value === undefined} />
}

function Shown({ sums: { transactions, received, spent }, unfinished }: { sums: Sums; unfinished?: boolean }) {
  return (
    <span>
      {counted(transactions, 'transaction')}, received <Coins text={coinsOf(received)} />, spent{' '}
      <Coins text={coinsOf(spent)} />
      {unfinished === true && <span class="quiet"> so far …</span>}
    </span>
  )
}

/** The DID of the key that has spent from the address, if the chain has it: only a program that spends tells the key. */
async function ownDid({ address, transactions }: AddressHistory, signal: AbortSignal): Promise<string | undefined> {
  const spending = transactions.find(({ spent }) => (unitsOf(spent) ?? 0n) > 0n)
  if (spending === undefined) return undefined
  const { programs } = await ask<ShownTransaction>('getrawtransaction', { txid: spending.txid, verbose: true }, signal)
  const did = programs.map(({ code }) => didOfCode(code, address)).find((one) => one !== undefined)
  if (did === undefined) return undefined
  const { status } = await ask<{ status: number }>('resolvedid', { did, all: false }, signal)
  return status === 3 ? undefined : did
}

function OwnDid({ newest }: { newest: AddressHistory }) {
  const { value, failure } = useAnswer(
    (signal) => ownDid(newest, signal).then((did) => did ?? null),
    ['own did', newest.address, newest.last],
  )
  if (failure !== undefined) return <Failure of={failure} />
  if (value === undefined) return <>…</>
  if (value === null) return <span class="quiet">none that this page can tell</span>
  return (
    <>
      <DidName text={value} /> <span class="quiet">of the same key</span>
    </>
  )
}

function History({ address, before }: { address: string; before: string | undefined }) {
  const parameters = { address, limit: historyRows, before: before === undefined ? undefined : positionOf(before) }
  const answer = useCall<AddressHistory>('getaddresshistory', parameters)
  return (
    <Panel title="Transactions">
      <Answered answer={answer}>
        {({ transactions, next, pruned, superseded }) => (
          <>
            <Table
              caption="transactions of the address, newest first"
              rows={transactions}
              keyOf={({ txid, height }) => `${height} ${txid}`}
              empty="No transaction here."
              columns={[
                ['Block', ({ height, blockhash }) => <BlockHeight height={height} hash={blockhash} />, 'number spare'],
                ['Age', ({ time }) => <Ago time={time} />, 'number'],
                ['Transaction', ({ txid }) => <TransactionName text={txid} />],
                ['Kind', ({ kind }) => <Plain text={kind} />, 'spare'],
                ['Fee', ({ fee }) => (fee === undefined ? '' : <Amount text={fee} />), 'number spare'],
                ['Change', ({ received, spent }) => <Change received={received} spent={spent} />, 'number'],
              ]}
            />
            <GivenUpNote superseded={superseded} />
            {pruned !== undefined && next === undefined && (
              <p class="quiet">The node has the transactions of blocks from {whole(pruned + 1)} on.</p>
            )}
            <Pager
              label="parts of the history"
              back={before === undefined ? undefined : linkTo('address', address)}
              on={next === undefined ? undefined : linkTo('address', address, { before: positionText(next) })}
            />
          </>
        )}
      </Answered>
    </Panel>
  )
}

/** Sum that a transaction added to the address, or took from it. */
function Change({ received, spent }: { received: string; spent: string }) {
  const units = (unitsOf(received) ?? 0n) - (unitsOf(spent) ?? 0n)
  return (
    <span class={units < 0n ? 'spent' : 'received'}>
      <Amount text={coinsOf(units)} signed />
    </span>
  )
}

const coinRows = 50

/** Coins are a long list: they are asked for when the list is opened, and not again with each block. */
function CoinsPanel({ address }: { address: string }) {
  const [open, setOpen] = useState(false)
  return (
    <Panel title="Coins">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Unspent outputs</summary>
        {open && <CoinList address={address} />}
      </details>
    </Panel>
  )
}

function CoinList({ address }: { address: string }) {
  const [from, setFrom] = useState(0)
  const answer = useCall<Coin[]>('listunspent', { addresses: [address] }, { every: 'once' })
  // The coins may be fewer now, and the place where the list stood behind their end.
  const askAgain = () => {
    setFrom(0)
    answer.again()
  }
  return (
    <Answered answer={answer}>
      {(coins) => (
        <>
          <p class="quiet">
            {whole(coins.length)} coins when the node was asked.{' '}
            <button type="button" onClick={askAgain}>
              Ask again
            </button>
          </p>
          <Table
            caption="unspent outputs of the address"
            rows={coins.slice(from, from + coinRows)}
            keyOf={({ txid, vout }) => `${txid} ${vout}`}
            columns={[
              ['Output', ({ txid, vout }) => <OutputName txid={txid} vout={vout} />],
              ['Confirmations', ({ confirmations }) => whole(confirmations), 'number'],
              ['Lock', ({ outputlock }) => (outputlock === 0 ? '' : whole(outputlock)), 'number spare'],
              ['Coins', ({ amount }) => <Amount text={amount} />, 'number'],
            ]}
          />
          {coins.length > coinRows && (
            <div class="pager">
              <button type="button" disabled={from === 0} onClick={() => setFrom(from - coinRows)}>
                ‹ before
              </button>
              <span class="quiet number">
                {whole(from + 1)} – {whole(Math.min(from + coinRows, coins.length))}
              </span>
              <button type="button" disabled={from + coinRows >= coins.length} onClick={() => setFrom(from + coinRows)}>
                more ›
              </button>
            </div>
          )}
        </>
      )}
    </Answered>
  )
}
