import { useState } from 'preact/hooks'
import type { Operation, ShownTransaction } from '../ask/shapes.js'
import { useCoin } from '../ask/chain-names.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { JsonView } from '../parts/json-view.js'
import { RawJson } from '../parts/raw-json.js'
import { Answered, Badge, Facts, Heading, Panel, Table } from '../parts/panel.js'
import {
  AddressName,
  Amount,
  Coins,
  BlockName,
  Copy,
  Moment,
  OutputName,
  Plain,
  TransactionName,
} from '../parts/values.js'
import type { Route } from '../route.js'
import { bytes, counted, feeRate, whole } from '../text/numbers.js'
import { typeName } from '../text/type-names.js'
import { ConfirmPanel } from './confirm.js'
import { OperationPanel } from './operation-panel.js'
import { feeOf, isCoinbase, type SpentOutput, spentOutputs } from './spent-outputs.js'

/** One transaction, mined or waiting. */

export function TransactionPage({ subject }: Route) {
  const answer = useCall<ShownTransaction>('getrawtransaction', { txid: subject, verbose: true })
  const kind = answer.value === undefined ? '' : typeName(answer.value.type)
  return (
    <>
      <Heading kind="Transaction">{kind}</Heading>
      <Answered answer={answer}>{(transaction) => <Whole transaction={transaction} />}</Answered>
    </>
  )
}

function Whole({ transaction }: { transaction: ShownTransaction }) {
  const { txid, blockhash } = transaction
  const inputs = useAnswer((signal) => spentOutputs(transaction, signal), ['inputs', txid], { every: 'once' })
  return (
    <>
      <div class="columns">
        <Panel title="Summary">
          <Summary transaction={transaction} inputs={inputs.value} />
        </Panel>
        {blockhash !== '' && <ConfirmPanel blockhash={blockhash} />}
      </div>
      {transaction.type === 10 && (
        <OperationPanel operation={transaction.payload as unknown as Operation} txid={txid} />
      )}
      <div class="columns">
        <Panel title={isCoinbase(transaction) ? 'Input' : counted(transaction.vin.length, 'input')}>
          {isCoinbase(transaction) ? (
            <p class="empty">New coins and the fees of the block.</p>
          ) : (
            <Answered answer={inputs}>{(list) => <Inputs inputs={list} all={transaction.vin.length} />}</Answered>
          )}
        </Panel>
        <Panel title={counted(transaction.vout.length, 'output')}>
          <Outputs transaction={transaction} />
        </Panel>
      </div>
      <Details transaction={transaction} />
      <RawJson method="getrawtransaction" params={{ txid, verbose: true }} />
    </>
  )
}

function Summary({
  transaction,
  inputs,
}: {
  transaction: ShownTransaction
  inputs: readonly SpentOutput[] | undefined
}) {
  const { blockhash, confirmations } = transaction
  const waits = blockhash === ''
  const fee = inputs === undefined ? undefined : feeOf(transaction, inputs)
  return (
    <Facts
      rows={[
        ['Id', <TransactionName text={transaction.txid} whole />],
        [
          'State',
          waits ? (
            <Badge tone="warn">waits for a block</Badge>
          ) : (
            <>
              <Badge tone="good">in a block</Badge> {counted(confirmations, 'confirmation')}
            </>
          ),
        ],
        ['Block', waits ? undefined : <BlockName text={blockhash} whole />],
        ['Time', waits ? undefined : <Moment time={transaction.time} />],
        ['Fee', fee === undefined ? undefined : <Coins text={fee} />],
        ['Fee rate', fee === undefined ? undefined : <FeeRate fee={fee} size={transaction.size} />],
        ['Size', bytes(transaction.size)],
        [
          'Lock',
          transaction.locktime === 0 || transaction.type === 0 ? undefined : `above ${whole(transaction.locktime)}`,
        ],
      ]}
    />
  )
}

/** Units of 10^-8 for a byte, as the pool orders transactions. */
function FeeRate({ fee, size }: { fee: string; size: number }) {
  const coin = useCoin()
  return (
    <span class="number">
      {feeRate(fee, size)} × 10⁻⁸ <span class="quiet">{coin} a byte</span>
    </span>
  )
}

function Inputs({ inputs, all }: { inputs: readonly SpentOutput[]; all: number }) {
  return (
    <>
      <Table
        caption="inputs"
        rows={inputs}
        keyOf={({ txid, vout }) => `${txid} ${vout}`}
        columns={[
          ['Address', ({ output }) => (output === undefined ? '' : <AddressName text={output.address} />)],
          ['Output', ({ txid, vout }) => <OutputName txid={txid} vout={vout} />],
          ['Coins', ({ output }) => (output === undefined ? '' : <Amount text={output.value} />), 'number'],
        ]}
      />
      {all > inputs.length && (
        <p class="quiet">
          The first {inputs.length} of {whole(all)} inputs.
        </p>
      )}
    </>
  )
}

const outputsAtFirst = 100

function Outputs({ transaction: { vout } }: { transaction: ShownTransaction }) {
  const [most, setMost] = useState(outputsAtFirst)
  return (
    <>
      <Table
        caption="outputs"
        rows={vout.slice(0, most)}
        keyOf={({ n }) => n}
        empty="No output."
        columns={[
          ['#', ({ n }) => n, 'number'],
          ['Address', ({ address }) => <AddressName text={address} />],
          ['Lock', ({ outputlock }) => (outputlock === 0 ? '' : `until ${whole(outputlock)}`), 'number spare'],
          ['Coins', ({ value }) => <Amount text={value} />, 'number'],
        ]}
      />
      {vout.length > most && (
        <button class="more" type="button" onClick={() => setMost(most + 1000)}>
          {whole(vout.length - most)} more
        </button>
      )}
    </>
  )
}

function Details({ transaction }: { transaction: ShownTransaction }) {
  const [open, setOpen] = useState(false)
  const { txid, attributes, programs, payload, type } = transaction
  return (
    <Panel title="Bytes and programs">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Payload, attributes, programs, and the bytes in hex</summary>
        {open && (
          <>
            <JsonView
              value={{ version: transaction.version, ...(type === 10 ? {} : { payload }), attributes, programs }}
            />
            <Hex txid={txid} />
          </>
        )}
      </details>
    </Panel>
  )
}

function Hex({ txid }: { txid: string }) {
  const answer = useCall<string>('getrawtransaction', { txid }, { every: 'once' })
  return (
    <Answered answer={answer}>
      {(hex) => (
        <p class="code long">
          <Plain text={hex} /> <Copy text={hex} what="the bytes" />
        </p>
      )}
    </Answered>
  )
}
