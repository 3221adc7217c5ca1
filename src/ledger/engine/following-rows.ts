import { tables } from '../storage/rows/tables.js'
import type { EngineRange } from './row-engine.js'

type Follow = (key: Buffer, value: Buffer) => Buffer[]

/** Rows that are read after a row in nearly every answer, by its table: they are fetched with it, before they are missed. */
const follows = new Map<number, Follow>([
  [tables.active.number, (_, hash) => [tables.header.key(hash)]],
  [tables.location.number, (_, row) => atPlace(tables.location.decode(row))],
  [tables.didOperation.number, (_, row) => atPlace(tables.didOperation.decode(row))],
  [
    tables.didHead.number,
    (key, row) => {
      const [did] = tables.didHead.fields(key)
      const { operationCount, documentSequence } = tables.didHead.decode(row)
      return [...new Set([operationCount - 1, documentSequence])].map((number) => tables.didOperation.key(did, number))
    },
  ],
])

/** The range to read together with a row, before its value is known: the last operation of a DID is the last row of its range. */
export function rangeBeside(key: Buffer): EngineRange | undefined {
  if (key[0] !== tables.didHead.number) return undefined
  const [did] = tables.didHead.fields(key)
  return { ...tables.didOperation.range(did), limit: 1, bytes: 1, reverse: true }
}

/** Keys of the rows that follow a row. */
export function followingRows(key: Buffer, value: Buffer): Buffer[] {
  return follows.get(key[0] as number)?.(key, value) ?? []
}

function atPlace({ height, index }: { readonly height: number; readonly index: number }): Buffer[] {
  return [tables.transaction.key(height, index), tables.active.key(height)]
}
