import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { apiLimits } from '../../../src/api/api-limits.js'
import { documentJsonLimits } from '../../../src/did/document.js'
import { defaultDidLimits } from '../../../src/did/did-rules.js'
import { orphanLimits } from '../../../src/mempool/orphans.js'
import { policy } from '../../../src/mempool/policy.js'
import { transportLimits } from '../../../src/network/transport/transport-limits.js'
import { fixedLimits } from '../../../src/primitives/spec.js'
import { queryLimits } from '../../../src/resolver/document-search.js'
import { code, repositoryFile, tableRows } from '../../support/markdown.js'

/** Numbers of the code that bound nothing: what formats, protocols and the layout of memory fix. */
const noLimits = new Set([
  'api/http-connections.ts idleRanks',
  'api/metrics.ts delayResolution',
  'api/rpc/address-methods.ts usualFee',
  'chain/assumed-confirms.ts state.verified',
  'chain/assumed-confirms.ts state.wrong',
  'chain/block-file.ts lengthsSize',
  'consensus/signature-work.ts noWork',
  'storage/secret-file.ts secretSize',
  'chain/block-file.ts checksumSize',
  'node/serve-node.ts defaultPortBase',
  'cli/genesis-spec.ts newSupply',
  'cli/show-progress.ts barWidth',
  'client/arguments.ts longestTimer',
  'client/node-client.ts methodNotFound',
  'client/node-client.ts unknownTransaction',
  'consensus/commitment.ts entrySize',
  'crypto/batch.ts wordsPerCheck',
  'crypto/hd.ts hardened',
  'crypto/verifier-pool.ts smallest',
  'crypto/verifier.ts portion',
  'events/event-log.ts numbersPerSecond',
  'events/event-log.ts numbersPerRun',
  'events/event-log.ts latestSecond',
  'api/ws/ws-connection.ts closeCode',
  'api/ws/ws-connection.ts maxReason',
  'did/base64url.ts signatureLength',
  'did/state.ts operationCost',
  'network/penalties.ts state.points',
  'did/w3c.ts didPrefix',
  'library/wallet-node.ts defaultYears',
  'network/transport/frames.ts prefixSize',
  'network/transport/patches/mux-guard.ts headerSize',
  'network/transport/patches/mux-guard.ts dataFrame',
  'network/transport/patches/mux-guard.ts pingFrame',
  'network/transport/patches/mux-guard.ts openFlag',
  'primitives/address.ts trailer',
  'primitives/transaction.ts coinbaseInput',
  'consensus/commitment.ts commitmentTag',
  'network/wire/status-message.ts networkVersion',
  'network/wire/status-message.ts services',
  'network/wire/transactions-message.ts nameBytes',
  'node/serve-node.ts portOffsets',
  'wallet/keystore.ts scryptCost',
  'network/sync/assumed-chain.ts hashesOfChunk',
  'primitives/amount.ts unit',
  'primitives/block.ts headerTrailer',
  'primitives/block.ts leastTransaction',
  'primitives/compact.ts easiestBits',
  'primitives/confirm.ts keySize',
  'primitives/confirm.ts signatureSize',
  'primitives/confirm.ts voteSize',
  'primitives/header.ts headerSize',
  'primitives/transaction.ts finalSequence',
  'primitives/transaction.ts lockSequence',
  'did/point.ts constant',
  'did/point.ts prime',
  'primitives/transaction-parts.ts inputSize',
  'primitives/transaction-parts.ts outputSize',
  'primitives/transaction-parts.ts assetSize',
  'storage/known-documents.ts entryWeight',
  'storage/known-documents.ts keyWeight',
  'storage/known-documents.ts credentialWeight',
  'storage/database.ts checksumSize',
  'storage/journal.ts journalRowSize',
  'storage/level/crc32c.ts polynomial',
  'storage/level/log-records.ts blockSize',
  'storage/level/log-records.ts fragmentType',
  'storage/level/log-records.ts headerSize',
  'storage/level/log-records.ts tornZeros',
  'storage/level/table-file.ts footerSize',
  'storage/level/table-file.ts trailerSize',
  'storage/schema.ts coinSize',
  'storage/schema.ts orderedRow',
  'storage/schema.ts schemaVersion',
  'voting/tendermint/message.ts signerSize',
  'voting/tendermint/message.ts signatureSize',
  'voting/tendermint/sign-state.ts checksumSize',
  'wallet/devnet-accounts.ts devnetAccountCount',
  'wallet/devnet-accounts.ts devnetAccountFunds',
  'wallet/keystore-dat.ts coordinate',
  'wallet/keystore.ts ivLength',
  'wallet/keystore.ts saltLength',
  'wallet/keystore.ts tagLength',
])

/** Every constant of a module whose value is a number written out, by `file name`, with the text of its value. */
function constants(): Map<string, string> {
  const root = new URL('../../../src/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = new Map<string, string>()
  for (const file of files) {
    const text = repositoryFile(`src/${file}`)
    for (const [, name, value] of text.matchAll(/^(?:export )?const (\w+)(?:: \w+)? = ([^\n]+)$/gm)) {
      if (/^(-?\d|Math\.)[\w\s*+()/.-]*$/.test(value ?? '')) found.set(`${file} ${name}`, value as string)
    }
    for (const [, name, members = ''] of text.matchAll(/^(?:export )?const (\w+)(?:: \w+)? = \{([^\n{}]*)\}/gm)) {
      for (const [, member, value] of members.matchAll(/(\w+): (\d[\w\s*+]*)/g)) {
        found.set(`${file} ${name}.${member}`, value as string)
      }
    }
  }
  return found
}

/** The value of an expression of numbers and other constants. */
function evaluate(text: string, known: ReadonlyMap<string, string>): number {
  const resolved = text.replace(/\b[a-zA-Z]\w*\b(?!\()/g, (name) => {
    const other = [...known].find(([id]) => id.endsWith(` ${name}`))
    return name === 'Math' || /^(0x|e)/.test(name) || other === undefined ? name : `(${other[1]})`
  })
  const again = /\b(?!Math\b|ceil\b)[a-zA-Z]\w*\b/.test(resolved.replace(/\b0x[0-9a-f]+\b|\d+n\b/gi, ''))
  return again ? evaluate(resolved, known) : Number(new Function(`return ${resolved}`)())
}

const rows = tableRows(repositoryFile('docs/limits.md')).map(([, value = '', , constant, file]) => ({
  value: Number(value.replaceAll(' ', '')),
  constant: code(constant),
  file: code(file),
}))
const ofCode = rows.filter(({ file }) => file !== '')
const tables: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'api/api-limits.ts apiLimits': apiLimits,
  'mempool/orphans.ts orphanLimits': orphanLimits,
  'mempool/policy.ts policy': policy,
  'network/transport/transport-limits.ts transportLimits': transportLimits,
  'primitives/spec.ts fixedLimits': fixedLimits,
  'did/operation.ts defaultDidLimits': { ...defaultDidLimits },
  'did/document.ts documentJsonLimits': { ...documentJsonLimits },
  'resolver/document-search.ts queryLimits': queryLimits,
}
const members = Object.entries(tables).flatMap(([table, limits]) =>
  Object.entries(limits).flatMap(([name, value]) =>
    typeof value === 'number' ? [[`${table}.${name}`, String(value)] as const] : [],
  ),
)
const all = new Map([...constants(), ...members])

describe('docs/limits.md', () => {
  it('names every constant of the code that limits something, and no other', () => {
    const listed = ofCode.map(({ file, constant }) => `${file} ${constant}`)
    const limits = [...all.keys()].filter((id) => !noLimits.has(id) && !noLimits.has(id.replace(/\.\w+$/, '')))
    expect(listed.sort()).toEqual(limits.sort())
    const stale = [...noLimits].filter((id) => ![...all.keys()].some((key) => key === id || key.startsWith(`${id}.`)))
    expect(stale).toEqual([])
  })

  it.each(ofCode)('has the value of $constant', ({ file, constant, value }) => {
    expect(evaluate(all.get(`${file} ${constant}`) ?? 'NaN', all)).toBe(value)
  })

  it.each(['devnet', 'pow'])('has the values of genesis/%s.json', (name) => {
    const spec = JSON.parse(repositoryFile(`genesis/${name}.json`)) as Record<string, unknown>
    const ofSpec = rows.filter(({ file }) => file === '')
    const limits = Object.keys(spec['limits'] as object).map((limit) => `limits.${limit}`)
    expect(ofSpec.map(({ constant }) => constant)).toEqual(expect.arrayContaining(limits))
    for (const { constant, value } of ofSpec) {
      const held = constant.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], spec)
      expect({ constant, value: Number(held) }).toEqual({ constant, value })
    }
  })
})
