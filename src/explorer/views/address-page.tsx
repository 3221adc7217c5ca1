import { useState } from 'preact/hooks'
import type { AddressHistory, Coin } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { Answered, Facts, Heading, Pager, Panel, Table } from '../parts/panel.js'
import { AddressName, Ago, Amount, BlockHeight, OutputName, Plain, TransactionName } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { coinsOf, unitsOf, whole } from '../text/numbers.js'
import { positionOf, positionText } from './operations.js'

/** An address: its balance, the coins it is made of, and its transactions in pages. */

export function AddressPage({ subject, options }: Route) {
  const balance = useCall<string>('getreceivedbyaddress', { address: subject })
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
                    <Amount text={text} />
                  </span>,
                ],
              ]}
            />
          )}
        </Answered>
      </Panel>
      {balance.value !== undefined && (
        <>
          <History address={subject} before={options.get('before')} />
          <Coins address={subject} />
        </>
      )}
    </>
  )
}

const historyRows = 50

function History({ address, before }: { address: string; before: string | undefined }) {
  const parameters = { address, limit: historyRows, before: before === undefined ? undefined : positionOf(before) }
  const answer = useCall<AddressHistory>('getaddresshistory', parameters)
  return (
    <Panel title="Transactions">
      <Answered answer={answer}>
        {({ transactions, next }) => (
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
function Coins({ address }: { address: string }) {
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
  return (
    <Answered answer={answer}>
      {(coins) => (
        <>
          <p class="quiet">
            {whole(coins.length)} coins when the node was asked.{' '}
            <button type="button" onClick={answer.again}>
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
