import { useState } from 'preact/hooks'
import { chainClock, useChainNow } from '../ask/chain-clock.js'
import { useMethods } from '../ask/methods.js'
import { ask, askAll, Refusal } from '../ask/node-rpc.js'
import type { ShownTransaction } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { useAction } from '../parts/action.js'
import { Answered, Facts, Heading, Panel, Table } from '../parts/panel.js'
import { AddressName, Amount, Copy, TransactionName } from '../parts/values.js'
import { counted } from '../text/numbers.js'
import { duration, moment } from '../text/times.js'
import { ChainTools } from './devnet-tools.js'

/** What only a devnet can do: coins from nothing, blocks by hand, another time, another past. */
export function DevnetPage() {
  const known = useMethods()
  return (
    <>
      <Heading kind="Devnet" />
      {known.size > 0 && !known.has('dev_mine') ? (
        <Panel title="No devnet">
          <p>
            This node follows another chain. <code>didledger devnet</code> runs one to try things on.
          </p>
        </Panel>
      ) : (
        <>
          <div class="columns">
            <Mine />
            <Clock />
          </div>
          <Accounts />
          <ChainTools known={known} />
        </>
      )}
    </>
  )
}

function Mine() {
  const [blocks, setBlocks] = useState('1')
  const { run, report } = useAction()
  const mine = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      const hashes = await ask<string[]>('dev_mine', { blocks: Number(blocks) })
      return `${counted(hashes.length, 'block')} made`
    })
  }
  return (
    <Panel title="Blocks">
      <form class="line" onSubmit={mine}>
        <label>
          Make{' '}
          <input
            class="short"
            type="number"
            min="1"
            max="10000"
            value={blocks}
            onInput={(event) => setBlocks(event.currentTarget.value)}
          />{' '}
          blocks
        </label>
        <button class="main" type="submit">
          Mine
        </button>
      </form>
      {report}
    </Panel>
  )
}

const steps: readonly (readonly [name: string, seconds: number])[] = [
  ['1 minute', 60],
  ['1 hour', 3600],
  ['1 day', 86_400],
  ['30 days', 30 * 86_400],
  ['1 year', 365 * 86_400],
]

function Clock() {
  const now = useChainNow()
  const [date, setDate] = useState('')
  const { run, report } = useAction()
  const ahead = now - Math.floor(Date.now() / 1000)
  const increase = (seconds: number) =>
    void run(async () => {
      const time = await ask<number>('dev_increaseTime', { seconds })
      await chainClock.refresh()
      return `it is ${moment(time)}`
    })
  const setNext = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      const time = await ask<number>('dev_setNextBlockTime', { time: Math.floor(Date.parse(`${date}Z`) / 1000) })
      return `the next block will be of ${moment(time)}`
    })
  }
  return (
    <Panel title="Clock">
      <Facts
        rows={[
          ['Now', <span class="number">{moment(now)}</span>],
          [
            'Against',
            Math.abs(ahead) < 3
              ? 'as this machine'
              : `${duration(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine`,
          ],
        ]}
      />
      <div class="line" role="group" aria-label="move the clock forward">
        {steps.map(([name, seconds]) => (
          <button key={name} type="button" onClick={() => increase(seconds)}>
            + {name}
          </button>
        ))}
      </div>
      <form class="line" onSubmit={setNext}>
        <label>
          Next block at{' '}
          <input
            type="datetime-local"
            step="1"
            required
            value={date}
            onInput={(event) => setDate(event.currentTarget.value)}
          />{' '}
          UTC
        </label>
        <button type="submit">Set</button>
      </form>
      {report}
    </Panel>
  )
}

/** The accounts that the genesis block pays, with what they have now. */
async function accounts(signal: AbortSignal): Promise<{ address: string; balance: string }[]> {
  const blockhash = await ask<string>('getblockhash', { height: 0 }, signal)
  const { tx } = await ask<{ tx: ShownTransaction[] }>('getblock', { blockhash, verbosity: 2 }, signal)
  const addresses = [...new Set(tx.flatMap(({ vout }) => vout.map(({ address }) => address)))]
  const balances = await askAll<string>(
    addresses.map((address) => ['getreceivedbyaddress', { address }]),
    signal,
  )
  return addresses.map((address, index) => {
    const balance = balances[index]
    return { address, balance: balance === undefined || balance instanceof Refusal ? '0' : balance }
  })
}

function Accounts() {
  const answer = useAnswer(accounts, ['accounts'])
  const [amount, setAmount] = useState('100')
  const [other, setOther] = useState('')
  const { run, report } = useAction()
  const pay = (address: string) =>
    void run(async () => {
      const txid = await ask<string>('dev_faucet', { address: address.trim(), amount })
      return (
        <>
          paid by <TransactionName text={txid} />
        </>
      )
    })
  return (
    <Panel title="Accounts" note={<span class="quiet">those that the genesis block pays</span>}>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          pay(other)
        }}
      >
        <label>
          Pay{' '}
          <input
            class="short"
            inputMode="decimal"
            value={amount}
            onInput={(event) => setAmount(event.currentTarget.value)}
          />{' '}
          coins
        </label>
        <label>
          to{' '}
          <input
            class="address"
            placeholder="an address"
            required
            value={other}
            onInput={(event) => setOther(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Pay</button>
      </form>
      {report}
      <Answered answer={answer}>
        {(list) => (
          <Table
            caption="accounts of the genesis block"
            rows={list}
            keyOf={({ address }) => address}
            columns={[
              {
                title: 'Address',
                cell: ({ address }) => (
                  <span class="pair">
                    <AddressName text={address} /> <Copy text={address} what="the address" />
                  </span>
                ),
              },
              { title: 'Balance', number: true, cell: ({ balance }) => <Amount text={balance} /> },
              {
                title: 'Faucet',
                cell: ({ address }) => (
                  <button type="button" aria-label={`pay ${amount} coins to ${address}`} onClick={() => pay(address)}>
                    + {amount}
                  </button>
                ),
              },
            ]}
          />
        )}
      </Answered>
    </Panel>
  )
}
