import { expect, it } from 'vitest'
import { mapKey, toHex } from '../../src/base/primitives/bytes.js'
import { meta, tables } from '../../src/ledger/storage/rows/tables.js'

/** Bytes that rise from a number. */
const rising = (from: number, size: number) => Uint8Array.from({ length: size }, (_, i) => from + i)
const [hash, other, did] = [rising(0x10, 32), rising(0x40, 32), rising(0x70, 21)]
const at = { height: 0x01020304, index: 0x0506 }
const coin = { height: 7, coinbase: true, value: 1_000_000n, outputLock: 9, owner: mapKey(did) }
const page = tables.mapPage.key({ depth: 12, key: rising(0xa1, 32) })
const tip = { hash, height: 513 }
const entry = { ...at, txid: hash, time: 0x5e000000, payloadHash: other }

/** Keys and values of layout 4, as the code before the declared tables made them. */
const rows: readonly (readonly [bytes: string, key: Uint8Array, value?: Uint8Array])[] = [
  [
    '010000000000000102 0603000000101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f4d000000404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f',
    tables.journal.key(258),
    tables.journal.encode({ kind: 'rewind', height: 3, hash, bytes: 77, previous: other, operations: hash }),
  ],
  [
    '02101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535405090a0b0c0d020000000000000000000000000000000000000000000000000000000000123456020000002c0100000000000000010000',
    tables.header.key(hash),
    tables.header.encode({
      header: rising(1, 84),
      auxPow: rising(9, 5),
      status: 'active',
      chainWork: 0x123456n,
      transactionCount: 2,
      size: 300,
      arrival: 2 ** 40,
    }),
  ],
  ['0301020304 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f', tables.active.key(0x01020304), hash],
  ['04010203040506 ', tables.transaction.key(at.height, at.index)],
  ['05101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f ', tables.sideBody.key(hash)],
  [
    '06101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 040302010605',
    tables.location.key(hash),
    tables.location.encode(at),
  ],
  ['07101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f ', tables.confirm.key(hash)],
  [
    '08101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f0102 070000000140420f000000000009000000707172737475767778797a7b7c7d7e7f8081828384',
    tables.coin.key({ txid: hash, index: 258 }),
    tables.coin.encode(coin),
  ],
  [
    '09707172737475767778797a7b7c7d7e7f808182838400000007101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f0102 0c00000000000000',
    tables.addressCoin.key(did, 7, { txid: hash, index: 258 }),
    tables.addressCoin.encode(12n),
  ],
  [
    '0a707172737475767778797a7b7c7d7e7f8081828384 000000000001000003000000',
    tables.balance.key(did),
    tables.balance.encode({ sum: 2n ** 40n, count: 3 }),
  ],
  ['0b707172737475767778797a7b7c7d7e7f8081828384000000070102 ', tables.history.key(did, 7, 258)],
  [
    '0c00000007 0201070000000140420f000000000009000000707172737475767778797a7b7c7d7e7f80818283840001707172737475767778797a7b7c7d7e7f80818283840105101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f707172737475767778797a7b7c7d7e7f808182838401404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5fffffffff',
    tables.undo.key(7),
    tables.undo.encode({
      spent: [[coin], []],
      dids: [did],
      credentials: [{ operation: 5, key: hash, holder: did }],
      sideChains: [{ genesis: other, before: undefined }],
    }),
  ],
  [
    '0d707172737475767778797a7b7c7d7e7f8081828384 01030000000100000009000000',
    tables.didHead.key(did),
    tables.didHead.encode({ status: 'deactivated', operationCount: 3, documentSequence: 1, ordinal: 9 }),
  ],
  [
    '0e707172737475767778797a7b7c7d7e7f808182838400000102 040302010605101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f020000005e404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f',
    tables.didOperation.key(did, 258),
    tables.didOperation.encode({ ...entry, operation: 2, digest: other }),
  ],
  ['0f010203040506 ', tables.didDocument.key(at)],
  [
    '100000000000000102 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f0102000009000000',
    tables.leftBranch.key(258),
    tables.leftBranch.encode({ tip, forkHeight: 9 }),
  ],
  [
    '13101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 0101060504040302010000005e101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f',
    tables.credential.key(hash),
    tables.credential.encode([{ ...entry, operation: 4 }]),
  ],
  [
    '14707172737475767778797a7b7c7d7e7f808182838400000102 23c3a9',
    tables.declared.key(did, 258),
    tables.declared.encode('#é'),
  ],
  [
    '15707172737475767778797a7b7c7d7e7f8081828384 03000000',
    tables.declaredCount.key(did),
    tables.declaredCount.encode(3),
  ],
  ['1600000102 040302010605', tables.ordinal.key(258), tables.ordinal.encode(at)],
  ['1701ff000102 0105fc06', tables.posting.key('\u0001\u00ff', 258), tables.posting.encode(Uint16Array.of(1, 7, 900))],
  ['1801ff 03000000', tables.tokenCount.key('\u0001\u00ff'), tables.tokenCount.encode(3)],
  [
    '1900000007 02041a0ca1a000041a0ca1a00120101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f',
    tables.indexUndo.key(7),
    tables.indexUndo.encode([
      { key: page, value: undefined },
      { key: page, value: hash },
    ]),
  ],
  ['1a0ca1a0 ', page],
  ['1b0ca1a000000007 ', tables.mapPageBefore.key(page, 7)],
  [
    '1c00000007 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f0ca1a00ca1a0',
    tables.mapRoot.key(7),
    tables.mapRoot.encode({ root: hash, pages: [page, page] }),
  ],
  [
    '1d101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 07000000',
    tables.sideChain.key(hash),
    tables.sideChain.encode(7),
  ],
  [
    '20101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 0000000000010000707172737475767778797a7b7c7d7e7f8081828384',
    tables.pool.key(hash),
    tables.pool.encode({ arrival: 2 ** 40, bytes: did }),
  ],
  [
    '21101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f ff02010000000000006f6c64',
    tables.dropped.key(hash),
    tables.dropped.encode({ order: 258, reason: 'old' }),
  ],
  [
    '22101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f 075b3a3a315d3a31000000000001000003',
    tables.peer.key(hash),
    tables.peer.encode({ address: '[::1]:1', seen: 2 ** 40, failures: 3 }),
  ],
  [
    '23707172737475767778797a7b7c7d7e7f8081828384 0100000000000100000161',
    tables.ban.key(did),
    tables.ban.encode({ kind: 'host', until: 2 ** 40, reason: 'a' }),
  ],
  ['24101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f ', tables.candidate.key(hash)],
  [
    '25000000070000000802202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40 15707172737475767778797a7b7c7d7e7f808182838420101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f',
    tables.evidence.key(7, 8, 2, rising(0x20, 33)),
    tables.evidence.encode({ first: did, second: hash }),
  ],
  [
    '00746970 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f01020000',
    meta.tip.key,
    meta.tip.encode(tip),
  ],
  [
    '0072656f7267616e69736174696f6e 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f01020000404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f01000000',
    meta.reorganisation.key,
    meta.reorganisation.encode({ from: tip, to: { hash: other, height: 1 } }),
  ],
  ['00636c6f636b fbffffffffffffff', meta.clock.key, meta.clock.encode(-5)],
  ['006576656e7473 0000000000010000', meta.events.key, meta.events.encode(2 ** 40)],
  ['007072756e6564 07000000', meta.pruned.key, meta.pruned.encode(7)],
]

it.each(rows.map(([expected, ...row]) => ({ expected, row })))('keeps its bytes: $expected', ({ expected, row }) => {
  const [key, value] = row
  expect(`${toHex(key)} ${value === undefined ? '' : toHex(value)}`).toBe(expected)
})
