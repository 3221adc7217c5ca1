import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InvariantError } from '../../../src/base/errors/rule-error.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { MirrorFile, MirrorStore } from '../../../src/ledger/mirror/mirror-store.js'
import { StorageError } from '../../../src/ledger/storage/failure.js'
import { seededRandom } from '../builders/seeded-bytes.js'

/** A file of a mirror with bytes that follow from its name. */
export function mirrorFile(name: string, length = 300 + ((name.length * 37) % 600)): MirrorFile {
  return { name, bytes: seededRandom(name).bytes(length) }
}

/** As many files as a number says, in the folders of a mirror. */
export function mirrorFiles(count: number, seed = ''): MirrorFile[] {
  return Array.from({ length: count }, (_, i) => {
    const hash = toHex(seededRandom(`${seed} ${i}`).bytes(32))
    return mirrorFile(`${i % 2 === 0 ? 'map' : 'leaf'}/${hash.slice(0, 2)}/${hash}`)
  })
}

/** All names below a folder, in order. */
export async function namesIn(store: MirrorStore, folder: string): Promise<string[]> {
  const all: string[] = []
  for await (const names of store.names(folder)) {
    expect(names.length).toBeGreaterThan(0)
    expect(names.length).toBeLessThanOrEqual(1000)
    all.push(...names)
  }
  return all.sort()
}

/** Tests of every store of a mirror. `open` opens one store after another over the same files, which are none at first. */
export function mirrorStoreTests(name: string, surroundings: () => Promise<{ open(): Promise<MirrorStore> }>): void {
  describe(name, () => {
    let place: { open(): Promise<MirrorStore> }
    let store: MirrorStore
    beforeEach(async () => {
      place = await surroundings()
      store = await place.open()
    })
    afterEach(() => store.close())

    it('begins with no file', async () => {
      expect(await namesIn(store, '')).toEqual([])
      expect(await store.has('head')).toBe(false)
      expect(await store.get('head', 4096)).toBeUndefined()
      expect(await store.get('map/00/ab', 4096)).toBeUndefined()
    })

    it('holds files after it is opened again, with their bytes', async () => {
      const files = [...mirrorFiles(100), mirrorFile('change/0'), mirrorFile('empty/file', 0)]
      await store.putAll(files)
      await store.close()
      store = await place.open()
      for (const { name: file, bytes } of files) {
        expect(await store.has(file)).toBe(true)
        expect(Buffer.from((await store.get(file, 4096)) as Uint8Array)).toEqual(Buffer.from(bytes))
      }
    })

    it('takes files that are there already, beside new ones', async () => {
      const files = mirrorFiles(20)
      await store.putAll(files)
      await store.putAll([...files, mirrorFile('change/1')])
      expect(await namesIn(store, '')).toEqual([...files.map((file) => file.name), 'change/1'].sort())
    })

    it('takes no files', async () => {
      await store.putAll([])
      await store.deleteAll([])
      expect(await namesIn(store, '')).toEqual([])
    })

    it('rejects with the failure of the iterable, and keeps what is written whole', async () => {
      const [first, second] = mirrorFiles(2) as [MirrorFile, MirrorFile]
      async function* broken() {
        yield first
        yield second
        throw new Error('no more rows')
      }
      await expect(store.putAll(broken())).rejects.toThrow('no more rows')
      for (const file of await namesIn(store, '')) {
        const { bytes } = [first, second].find((one) => one.name === file) as MirrorFile
        expect(Buffer.from((await store.get(file, 4096)) as Uint8Array)).toEqual(Buffer.from(bytes))
      }
    })

    it('replaces a file by a shorter and a longer one', async () => {
      for (const length of [500, 20, 4000, 0]) {
        const file = mirrorFile('head', length)
        await store.replace(file)
        expect(Buffer.from((await store.get('head', 4096)) as Uint8Array)).toEqual(Buffer.from(file.bytes))
      }
      await store.replace(mirrorFile('own/list'))
      expect(await namesIn(store, 'own')).toEqual(['own/list'])
    })

    it('reads a file of as many bytes as it may have, and refuses one byte more', async () => {
      await store.replace(mirrorFile('about', 1000))
      expect((await store.get('about', 1000))?.length).toBe(1000)
      await expect(store.get('about', 999)).rejects.toThrow(StorageError)
    })

    it('lists what is below a folder alone', async () => {
      const names = ['map/00/aa', 'map/00/bb', 'map/01/cc', 'mapped/dd', 'leaf/00/ee', 'map.x', 'head']
      await store.putAll(names.map((one) => mirrorFile(one)))
      expect(await namesIn(store, 'map')).toEqual(['map/00/aa', 'map/00/bb', 'map/01/cc'])
      expect(await namesIn(store, 'map/00')).toEqual(['map/00/aa', 'map/00/bb'])
      expect(await namesIn(store, 'nothing/here')).toEqual([])
      expect(await namesIn(store, '')).toEqual([...names].sort())
    })

    it('lists more files than a portion holds, each once', async () => {
      const files = Array.from({ length: 1203 }, (_, i) => mirrorFile(`change/${i}`, 10))
      await store.putAll(files)
      expect(await namesIn(store, 'change')).toEqual(files.map((file) => file.name).sort())
    })

    it('deletes files, and takes those that are not there', async () => {
      const names = ['map/00/aa', 'map/00/bb', 'leaf/00/cc']
      await store.putAll(names.map((one) => mirrorFile(one)))
      await store.deleteAll(['map/00/aa', 'map/ff/none', 'nothing', 'leaf/00/cc'])
      expect(await namesIn(store, '')).toEqual(['map/00/bb'])
      await store.putAll([mirrorFile('map/00/aa')])
      expect(await store.has('map/00/aa')).toBe(true)
    })

    it('deletes more files than one request names', async () => {
      const names = Array.from({ length: 1050 }, (_, i) => `change/${i}`)
      await store.putAll(names.map((one) => mirrorFile(one, 5)))
      await store.deleteAll(names)
      expect(await namesIn(store, '')).toEqual([])
    })

    it.each([
      '../x',
      '/x',
      'a//b',
      'a/',
      'a/../b',
      '.',
      'A',
      'a b',
      'a\\b',
      'a\0',
      '.new/1',
      'a/.b',
      '',
      'a'.repeat(256),
      'a/'.repeat(256) + 'b',
    ])('refuses the name %j everywhere', async (bad) => {
      const file = { name: bad, bytes: new Uint8Array(1) }
      const tries: (() => Promise<unknown>)[] = [
        () => store.has(bad),
        () => store.get(bad, 10),
        () => store.putAll([file]),
        () => store.replace(file),
        () => store.deleteAll([bad]),
        ...(bad === '' ? [] : [() => namesIn(store, bad)]),
      ]
      for (const one of tries) await expect(Promise.resolve().then(one)).rejects.toThrow(InvariantError)
      expect(await namesIn(store, '')).toEqual([])
    })

    it('takes the longest name', async () => {
      const name = `a/${'b'.repeat(200)}/${'c'.repeat(200)}/${'d'.repeat(108)}`
      expect(name).toHaveLength(512)
      await store.putAll([mirrorFile(name)])
      expect(await namesIn(store, '')).toEqual([name])
    })

    it('writes what several callers put at a time', async () => {
      const sets = Array.from({ length: 4 }, (_, i) => mirrorFiles(60, `set ${i % 2}`))
      await Promise.all([...sets.map((files) => store.putAll(files)), store.replace(mirrorFile('head'))])
      expect(await namesIn(store, '')).toHaveLength(121)
    })

    it('refuses everything once it is closed', async () => {
      await store.close()
      await expect(store.putAll([mirrorFile('a/b')])).rejects.toMatchObject({ kind: 'closed' })
      await expect(store.has('a/b')).rejects.toMatchObject({ kind: 'closed' })
      await expect(namesIn(store, '')).rejects.toMatchObject({ kind: 'closed' })
      await store.close()
    })
  })
}
