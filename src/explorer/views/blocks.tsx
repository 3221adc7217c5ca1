import type { BlockList, ListedBlock } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { ListEnd } from '../parts/history.js'
import { Answered, Heading, Pager, Panel, Table } from '../parts/panel.js'
import { Ago, BlockHeight, BlockName, KeyName } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { bytes, whole } from '../text/numbers.js'

/** Blocks of the active chain, newest first. */

const rows = 50

export function BlocksPage({ options }: Route) {
  const before = options.get('before')
  const answer = useCall<BlockList>('listblocks', {
    limit: rows,
    before: before === undefined ? undefined : Number(before),
  })
  return (
    <>
      <Heading kind="Blocks" />
      <Panel title="Blocks of the active chain">
        <Answered answer={answer}>
          {({ blocks, pruned }) => {
            const last = blocks.at(-1)?.height ?? 0
            const isEnd = last <= (pruned ?? -1) + 1
            return (
              <>
                <BlockTable blocks={blocks} />
                {isEnd && <ListEnd pruned={pruned} />}
                <Pager
                  label="parts of the list"
                  back={before === undefined ? undefined : linkTo('blocks')}
                  on={last > 0 && !isEnd ? linkTo('blocks', '', { before: last }) : undefined}
                />
              </>
            )
          }}
        </Answered>
      </Panel>
    </>
  )
}

export function BlockTable({ blocks }: { blocks: readonly ListedBlock[] }) {
  return (
    <Table
      caption="blocks, newest first"
      rows={blocks}
      keyOf={({ hash }) => hash}
      columns={[
        ['Height', ({ height, hash }) => <BlockHeight height={height} hash={hash} />, 'number'],
        ['Block', ({ hash }) => <BlockName text={hash} />],
        ['Age', ({ time }) => <Ago time={time} />, 'number'],
        ['Txs', ({ transactions }) => whole(transactions), 'number'],
        ['DIDs', ({ dids }) => (dids === 0 ? <span class="quiet">0</span> : whole(dids)), 'number'],
        ['Size', ({ size }) => bytes(size), 'number spare'],
        ['Proposer', ({ proposer }) => (proposer === undefined ? '' : <KeyName text={proposer} />), 'spare'],
      ]}
    />
  )
}
