import { MemoryLevel } from 'memory-level'
import { describe, expect, it } from 'vitest'
import { Database } from '../../../../src/ledger/storage/database.js'
import { changesOf } from '../../../../src/ledger/storage/write/row-changes.js'
import {
  accessFailure,
  damaged,
  fileFailure,
  openFailure,
  refusalOf,
  StorageError,
  type StorageErrorKind,
} from '../../../../src/ledger/storage/failure.js'
import { meta } from '../../../../src/ledger/storage/rows/tables.js'

const coded = (code: string, message: string) => Object.assign(new Error(message), { code })
/** As abstract-level wraps what opening met. */
const wrapped = (cause: Error) =>
  Object.assign(new Error('Database failed to open', { cause }), { code: 'LEVEL_DATABASE_NOT_OPEN' })

/** Messages as LevelDB makes them of what the C library says: glibc, musl, macOS, Windows. */
const refused: readonly (readonly [string, RegExp])[] = [
  ['IO error: /d/chain/000005.ldb: No space left on device', /the disk is full .*free some space/],
  ['IO error: /d/chain/000005.log: Disk quota exceeded', /the disk is full/],
  ['IO error: /d/chain/000005.log: There is not enough space on the disk.', /the disk is full/],
  ['IO error: /d/chain/000003.log: File too large', /ulimit -f/],
  ['IO error: /d/chain/LOCK: Permission denied', /its owner and its permissions, or choose another --data-dir/],
  ['IO error: /d/chain/LOCK: Operation not permitted', /its owner and its permissions/],
  ['IO error: /d/chain/LOCK: Read-only file system', /read-only/],
  ['IO error: /d/chain/000007.ldb: Too many open files', /ulimit -n/],
  ['IO error: /d/chain/000007.ldb: Too many open files in system', /ulimit -n/],
  ['IO error: /d/chain/000007.ldb: No file descriptors available', /ulimit -n/],
  ['IO error: /d/chain/000007.ldb: Cannot allocate memory', /memory/],
  ['IO error: /d/chain/CURRENT: Not a directory', /look at the path/],
  ['IO error: /d/chain/CURRENT: Is a directory', /look at the path/],
  ['IO error: /d/chain/CURRENT: File name too long', /too long .*a shorter --data-dir/],
  ['IO error: /d/chain/CURRENT: Too many levels of symbolic links', /links lead to each other/],
  ['IO error: /d/chain/000007.ldb: Stale file handle', /the disk is gone/],
  ['IO error: /d/chain/000007.ldb: Input/output error', /the disk reports an error .*chain reindex --data-dir DIR/],
]
const broken = [
  coded('LEVEL_CORRUPTION', 'Corruption: block checksum mismatch'),
  coded('LEVEL_CORRUPTION', ''),
  coded('LEVEL_IO_ERROR', 'IO error: /d/chain/000007.ldb: No such file or directory'),
  coded('LEVEL_IO_ERROR', 'IO error: /d/chain/000007.ldb: file is too short to be an sstable'),
  // The synchronous read gives no code.
  new Error('IO error: /d/chain/000007.ldb: No such file or directory'),
  new Error('Corruption: bad block handle'),
  new Error('Not implemented: something'),
]

const kindOf = (error: unknown): StorageErrorKind | 'none' => (error instanceof StorageError ? error.kind : 'none')

describe('what a read or a write met', () => {
  it.each(refused)('%s is the refusal of the system', (message, words) => {
    for (const error of [new Error(message), coded('LEVEL_IO_ERROR', message)]) {
      for (const failure of [
        accessFailure(error, 'read'),
        accessFailure(error, 'written'),
        openFailure(error, '/d/chain'),
      ]) {
        expect(kindOf(failure)).toBe('environment')
        expect(String(failure)).toMatch(words)
        expect(String(failure)).toContain(message)
      }
    }
    expect(kindOf(openFailure(wrapped(coded('LEVEL_IO_ERROR', message)), '/d/chain'))).toBe('environment')
  })

  it('is damage with its command where LevelDB cannot read what is there', () => {
    for (const error of broken) {
      expect(kindOf(accessFailure(error, 'read')), error.message).toBe('damage')
      for (const failure of [
        accessFailure(error, 'read'),
        openFailure(error, '/d/chain'),
        openFailure(wrapped(error), '/d/chain'),
      ]) {
        expect(String(failure)).toContain('run: npx didledger chain reindex --data-dir DIR')
      }
    }
  })

  it('is neither where another process, the end of the node or the program is behind it', () => {
    expect(kindOf(openFailure(wrapped(coded('LEVEL_LOCKED', 'IO error: lock /d/LOCK: already held')), '/d'))).toBe(
      'in-use',
    )
    for (const code of ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN']) {
      expect(kindOf(accessFailure(coded(code, 'x is not open'), 'read'))).toBe('closed')
    }
    const bug = new TypeError('x is not a function')
    expect(accessFailure(bug, 'read')).toBe(bug)
    const known = damaged('a row')
    expect(accessFailure(known, 'read')).toBe(known)
  })

  it('is no fault of the program where the machine has no binary of LevelDB', () => {
    const none = new Error('No native build was found for platform=freebsd arch=x64 runtime=node abi=115')
    for (const error of [none, coded('ERR_DLOPEN_FAILED', 'Error loading shared library ld-linux-aarch64.so.1')]) {
      expect(refusalOf(error)?.advice).toContain('npm rebuild classic-level --build-from-source')
    }
  })

  it('is named for files of the node by the code of the system', () => {
    for (const code of [
      'ENOSPC',
      'EDQUOT',
      'EFBIG',
      'EACCES',
      'EPERM',
      'EROFS',
      'EMFILE',
      'ENFILE',
      'EIO',
      'ENOTDIR',
      'ESTALE',
      'ENOMEM',
    ]) {
      expect(refusalOf(coded(code, 'write')), code).toBeDefined()
      expect(String(fileFailure(coded(code, 'write'), 'a.key cannot be written'))).toMatch(
        /a\.key cannot be written: .*; \w/,
      )
    }
    const other = coded('ENOENT', 'no such file or directory')
    expect(fileFailure(other, 'x')).toBe(other)
  })
})

/** A store that fails as it is told. */
class FaultyLevel extends MemoryLevel<Buffer, Buffer> {
  failing: { reads?: Error; writes?: Error } = {}
  writes = 0

  constructor() {
    super({ keyEncoding: 'buffer', valueEncoding: 'buffer', storeEncoding: 'buffer' })
  }

  _getSync(...args: unknown[]): Buffer | undefined {
    if (this.failing.reads !== undefined) throw this.failing.reads
    return inside('_getSync').apply(this, args)
  }

  async _getMany(...args: unknown[]): Promise<(Buffer | undefined)[]> {
    if (this.failing.reads !== undefined) throw this.failing.reads
    return inside('_getMany').apply(this, args)
  }

  async _batch(...args: unknown[]): Promise<void> {
    this.writes++
    if (this.failing.writes !== undefined) throw this.failing.writes
    return inside('_batch').apply(this, args)
  }
}

/** What a level does inside; its typings leave it out. */
interface Inside {
  _getSync(...args: unknown[]): Buffer | undefined
  _getMany(...args: unknown[]): Promise<(Buffer | undefined)[]>
  _batch(...args: unknown[]): Promise<void>
}
const inside = (name: keyof Inside) => Reflect.get(MemoryLevel.prototype, name)

describe('a database whose store fails', () => {
  const info = { kind: 'pool', height: 0, hash: new Uint8Array(32) } as const
  const row = { key: meta.clock.key, value: Buffer.of(1) }
  const changes = new Map([['row', row]])
  const open = async () => {
    const level = new FaultyLevel()
    return { level, database: await Database.over(level) }
  }

  it('writes nothing after a write that failed, and believes no row of it', async () => {
    const { level, database } = await open()
    await database.commit(changesOf(changes), info, { sync: true })
    level.failing = { writes: new Error('IO error: /d/000003.log: Input/output error') }
    const next = new Map([['row', { key: row.key, value: Buffer.of(2) }]])
    await expect(database.commit(changesOf(next), info, { sync: true })).rejects.toMatchObject({ kind: 'environment' })
    await expect(database.failure).rejects.toThrow(/cannot be written: the disk reports an error/)
    level.failing = {}
    const { writes } = level
    await expect(database.commit(changesOf(next), info, { sync: true })).rejects.toThrow(/the disk reports an error/)
    await expect(database.checkpoint({ height: 0, hash: info.hash })).rejects.toThrow(/the disk reports an error/)
    expect(level.writes).toBe(writes)
    expect(database.get(row.key)).toEqual(Buffer.of(1))
    expect(database.sequence).toBe(1)
  })

  it('says of every read what it met', async () => {
    const { level, database } = await open()
    await database.commit(changesOf(changes), info, { sync: true })
    level.failing = { reads: new Error('IO error: /d/000005.ldb: Too many open files') }
    expect(() => database.get(row.key)).toThrow(/too many files are open .*ulimit -n/)
    await expect(database.getMany([row.key])).rejects.toMatchObject({ kind: 'environment' })
    level.failing = { reads: new Error('Corruption: bad entry in block') }
    expect(() => database.get(row.key)).toThrow(
      /damaged: Corruption: bad entry in block; run: npx didledger chain reindex/,
    )
    await expect(database.getMany([row.key])).rejects.toMatchObject({ kind: 'damage' })
    level.failing = {}
    expect(database.get(row.key)).toEqual(Buffer.of(1))
    await database.close()
    expect(() => database.get(row.key)).toThrow(/the database is closed/)
    await expect(database.rows({})).rejects.toMatchObject({ kind: 'closed' })
    await expect(database.pages({}, 10).next()).rejects.toMatchObject({ kind: 'closed' })
    await expect(database.scan({}).next()).rejects.toMatchObject({ kind: 'closed' })
  })
})
