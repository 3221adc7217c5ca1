import { ask } from '../ask/node-rpc.js'
import type { BlockList, ListedBlock } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { Answered, Heading, Pager, Panel, Table } from '../parts/panel.js'
import { Ago, BlockHeight, BlockName, KeyName } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { bytes, whole } from '../text/numbers.js'

/** Blocks of the active chain, newest first. */

const rows = 50

export function BlocksPage({ options }: Route) {
  const before = options.get('before')
  const parameters = { limit: rows, ...(before === undefined ? {} : { before: Number(before) }) }
  const answer = useAnswer((signal) => ask<BlockList>('listblocks', parameters, signal), ['blocks', before])
  return (
    <>
      <Heading kind="Blocks" />
      <Panel title="Blocks of the active chain">
        <Answered answer={answer}>
          {({ blocks }) => {
            const last = blocks.at(-1)?.height ?? 0
            return (
              <>
                <BlockTable blocks={blocks} />
                <Pager
                  label="parts of the list"
                  first={before === undefined ? undefined : linkTo('blocks')}
                  next={last > 0 ? linkTo('blocks', '', { before: last }) : undefined}
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
        {
          title: 'Height',
          number: true,
          cell: ({ height, hash }) => <BlockHeight height={height} hash={hash} />,
        },
        { title: 'Block', cell: ({ hash }) => <BlockName text={hash} /> },
        { title: 'Age', number: true, cell: ({ time }) => <Ago time={time} /> },
        { title: 'Txs', number: true, cell: ({ transactions }) => whole(transactions) },
        { title: 'DIDs', number: true, cell: ({ dids }) => (dids === 0 ? <span class="quiet">0</span> : whole(dids)) },
        { title: 'Size', number: true, spare: true, cell: ({ size }) => bytes(size) },
        {
          title: 'Proposer',
          spare: true,
          cell: ({ proposer }) => (proposer === undefined ? '' : <KeyName text={proposer} />),
        },
      ]}
    />
  )
}
