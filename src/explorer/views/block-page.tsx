import { ask, askAll } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import type { ShownBlock, ShownTransaction, WholeBlock } from '../ask/shapes.js'
import { useCoin } from '../ask/chain-names.js'
import { useAnswer } from '../ask/use-answer.js'
import { RawJson } from '../parts/raw-json.js'
import { Answered, Badge, Facts, Heading, Pager, Panel, Table } from '../parts/panel.js'
import { Amount, BlockName, Copy, Moment, Plain, TransactionName } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { bytes, coinsOf, counted, unitsOf, whole } from '../text/numbers.js'
import { typeName } from '../text/type-names.js'
import { ConfirmPanel } from './confirm.js'

/** One block: by hash, also off the active chain, or by height. */

interface Found {
  readonly block: ShownBlock
  /** Block of its height on the active chain; undefined where that ends below. */
  readonly activeHash: string | undefined
}

/** Heights are 32 bits wide. */
const highest = 0xffff_ffff

async function find(subject: string, signal: AbortSignal): Promise<Found> {
  const blockhash = await hashOf(subject, signal)
  const block =
    blockhash === undefined ? undefined : await unlessUnknown(ask<ShownBlock>('getblock', { blockhash }, signal))
  if (block === undefined) throw await noBlock(subject, signal)
  return { block, activeHash: await hashAt(block.height, signal) }
}

/** The hash that a subject names; undefined for a height at which there is no block. */
async function hashOf(subject: string, signal: AbortSignal): Promise<string | undefined> {
  if (/^[0-9a-f]{64}$/i.test(subject)) return subject
  if (!/^\d+$/.test(subject)) {
    throw new Refusal(codes.parameters, 'A block is named by its height, or by its hash of 64 hex digits.', '')
  }
  const height = Number(subject)
  return height > highest ? undefined : hashAt(height, signal)
}

function hashAt(height: number, signal: AbortSignal): Promise<string | undefined> {
  return unlessUnknown(ask<string>('getblockhash', { height }, signal))
}

/** The answer; undefined if the node has no such block. Other refusals are thrown. */
async function unlessUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Refusal && error.code === codes.unknownBlock) return undefined
    throw error
  }
}

async function noBlock(subject: string, signal: AbortSignal): Promise<Refusal> {
  const tip = await ask<number>('getcurrentheight', {}, signal)
  return new Refusal(codes.unknownBlock, `The node has no block ${subject}: its tip is at height ${tip}.`, '')
}

export function BlockPage({ subject, options }: Route) {
  const answer = useAnswer((signal) => find(subject, signal), ['block', subject])
  return (
    <>
      <Heading kind="Block">{answer.value === undefined ? '' : whole(answer.value.block.height)}</Heading>
      <Answered answer={answer}>
        {({ block, activeHash }) => (
          <>
            {activeHash !== block.hash && <OffChain activeHash={activeHash} />}
            <div class="columns">
              <Panel title="Header">
                <Header block={block} active={activeHash === block.hash} />
              </Panel>
              <ConfirmPanel blockhash={block.hash} />
            </div>
            <Transactions
              block={block}
              from={Number(options.get('from') ?? 0) || 0}
              active={activeHash === block.hash}
            />
            <RawJson method="getblock" params={{ blockhash: block.hash, verbosity: 1 }} />
          </>
        )}
      </Answered>
    </>
  )
}

function OffChain({ activeHash }: Pick<Found, 'activeHash'>) {
  return (
    <p class="notice warn" role="status">
      This block is not on the active chain:{' '}
      {activeHash === undefined ? (
        'that ends below its height.'
      ) : (
        <>
          another block has its height. <a href={linkTo('block', activeHash)}>Show that one</a>
        </>
      )}
    </p>
  )
}

function Header({ block, active }: { block: ShownBlock; active: boolean }) {
  const { previousblockhash: previous, nextblockhash: next } = block
  const hasPrevious = /[1-9a-f]/.test(previous)
  return (
    <Facts
      rows={[
        ['Hash', <BlockName text={block.hash} whole />],
        ['Time', <Moment time={block.time} />],
        [
          'Confirmations',
          active ? <span class="number">{whole(block.confirmations)}</span> : <Badge tone="warn">off the chain</Badge>,
        ],
        ['Size', bytes(block.size)],
        ['Previous', hasPrevious ? <BlockName text={previous} whole /> : undefined],
        ['Next', active && /[1-9a-f]/.test(next) ? <BlockName text={next} whole /> : undefined],
        ['Merkle root', <span class="code long">{block.merkleroot}</span>],
        ['Difficulty', <Plain text={block.difficulty} />],
        ['Bits', <span class="code">{block.bits.toString(16).padStart(8, '0')}</span>],
        ['Chain work', <span class="code">{block.chainwork.replace(/^0+(?=.)/, '')}</span>],
        [
          'AuxPow',
          block.auxpow === '' ? undefined : (
            <span>
              {bytes(block.auxpow.length / 2)} <Copy text={block.auxpow} what="the AuxPow" />
            </span>
          ),
        ],
      ]}
    />
  )
}

const rows = 25

/** The transactions of a part of the list. Those of a block off the chain are in no index: the whole block has them. */
async function transactionsOf(
  { hash, tx }: ShownBlock,
  { from, active }: { readonly from: number; readonly active: boolean },
  signal: AbortSignal,
): Promise<(ShownTransaction | Refusal)[]> {
  if (!active) {
    const whole = await ask<WholeBlock>('getblock', { blockhash: hash, verbosity: 2 }, signal)
    return whole.tx.slice(from, from + rows)
  }
  const calls = tx.slice(from, from + rows).map((txid) => ['getrawtransaction', { txid, verbose: true }] as const)
  return askAll<ShownTransaction>(calls, signal)
}

function Transactions({ block, from, active }: { block: ShownBlock; from: number; active: boolean }) {
  const ids = block.tx.slice(from, from + rows)
  const answer = useAnswer(
    (signal) => transactionsOf(block, { from, active }, signal),
    ['transactions', block.hash, from, active],
    { every: 'once' },
  )
  const coin = useCoin()
  const page = (at: number) => linkTo('block', block.hash, { from: at })
  return (
    <Panel title={counted(block.tx.length, 'transaction')}>
      <Answered answer={answer}>
        {(found) => (
          <Table
            caption="transactions of the block"
            rows={ids.map((txid, at) => ({ txid, at: from + at, found: found[at] }))}
            keyOf={({ txid }) => txid}
            columns={[
              ['#', ({ at }) => at, 'number'],
              ['Transaction', ({ txid }) => <TransactionName text={txid} />],
              ['Type', ({ found: one }) => (isFound(one) ? typeName(one.type) : '')],
              [
                coin === '' ? 'Outputs' : `Outputs, ${coin}`,
                ({ found: one }) => (isFound(one) ? <Amount text={sum(one)} /> : ''),
                'number',
              ],
              ['Size', ({ found: one }) => (isFound(one) ? bytes(one.size) : ''), 'number spare'],
            ]}
          />
        )}
      </Answered>
      <Pager
        label="parts of the list"
        words={['‹ before', 'more ›']}
        back={from > 0 ? page(Math.max(0, from - rows)) : undefined}
        on={from + rows < block.tx.length ? page(from + rows) : undefined}
      />
    </Panel>
  )
}

function isFound(one: ShownTransaction | Refusal | undefined): one is ShownTransaction {
  return one !== undefined && !(one instanceof Refusal)
}

function sum({ vout }: ShownTransaction): string {
  return coinsOf(vout.reduce((total, { value }) => total + (unitsOf(value) ?? 0n), 0n))
}
