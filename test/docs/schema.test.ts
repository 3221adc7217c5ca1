import { describe, expect, it } from 'vitest'
import { journalRowSize } from '../../src/ledger/storage/write/journal.js'
import type { Shipped } from '../../src/ledger/storage/rows/shipped.js'
import { meta, schemaVersion, tables } from '../../src/ledger/storage/rows/tables.js'
import { code, repositoryFile, section, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/schema.md')
const head = repositoryFile('src/ledger/storage/rows/tables.ts').split('*/', 1)[0] as string

interface Drawn {
  readonly number: number
  readonly drawing: string
  readonly keySize: number | undefined
  readonly valueSize?: number
  readonly shipped: Shipped
}
const declared: readonly (readonly [string, Drawn])[] = Object.entries(tables)
  .map(([name, table]): [string, Drawn] => [name, table])
  .sort(([, a], [, b]) => a.number - b.number)
const hex = (number: number) => number.toString(16).padStart(2, '0')

describe('docs/schema.md', () => {
  it('draws every table as it is declared, and no other', () => {
    const described = tableRows(section(page, 'Tables')).map(([number, name = '', key, keyBytes, , valueBytes]) => {
      // After the name of a meta row all of them follow.
      return [number, code(name), key?.replace(/^(name in ASCII): .*/, '$1'), keyBytes, valueBytes]
    })
    const size = (bytes: number | undefined) => String(bytes ?? 'n')
    expect(described).toEqual(
      declared.map(([name, { number, drawing, keySize, valueSize }]) => [
        hex(number),
        name,
        drawing,
        size(keySize),
        size(valueSize),
      ]),
    )
    expect(page).toContain(`layout version ${schemaVersion}.`)
  })

  it('has the names of the meta rows, and the sizes of those with fields', () => {
    const names = Object.keys(meta).map((name) => `\`${name}\``)
    const [, , key = ''] = tableRows(section(page, 'Tables'))[0] as string[]
    expect(key.match(/`\w+`/g)?.sort()).toEqual(names.sort())
    for (const [text, { valueSize }] of [
      ['`tip` is block hash and height u32, N bytes', meta.tip],
      ["the chain spec's upgrades at or below the tip, N bytes", meta.upgrades],
      ['then of the new tip, N bytes', meta.reorganisation],
    ] as const) {
      expect(page.replaceAll(/\s+/g, ' ')).toContain(text.replace('N', String(valueSize)))
    }
  })

  it('says of each table and each meta row which shards have it', () => {
    const said = tableRows(section(page, 'Tables')).map(([number, , , , , , shards]) => [number, shards])
    const drawnOf = (shipped: Shipped) => (typeof shipped === 'string' ? shipped : shipped.drawing)
    expect(said).toEqual(
      declared.map(([name, { number, shipped }]) => [hex(number), name === 'meta' ? 'see below' : drawnOf(shipped)]),
    )
    const [, none = ''] = /Of the meta rows (.*?) are on no shard, the others on all/s.exec(page) ?? []
    const kept = Object.entries(meta).filter(([, { shipped }]) => shipped === 'none')
    expect(none.match(/\w+(?=`)/g)).toEqual(kept.map(([name]) => name))
  })

  it('has the length of a row of the journal', () => {
    const fields = tableRows(section(page, 'Batches and the journal')).map(([, bytes]) => Number(bytes))
    const length = fields.reduce((sum, bytes) => sum + bytes, 0)
    expect(length).toBe(tables.journal.valueSize)
    expect(length + (tables.journal.keySize ?? 0)).toBe(journalRowSize)
  })
})

describe('The head of rows/tables.ts', () => {
  it('draws the key of every table as it is declared', () => {
    const drawn = [...head.matchAll(/^ \* {3}([0-9a-f]{2}) (.*?) +→/gm)].map(([, number, key]) => [number, key])
    expect(drawn).toEqual(declared.map(([, { number, drawing }]) => [hex(number), drawing]))
  })
})
