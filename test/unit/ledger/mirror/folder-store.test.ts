import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FolderStore } from '../../../../src/ledger/mirror/folder-store.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { mirrorFile, mirrorFiles, mirrorStoreTests, namesIn } from '../../../support/assert/mirror-store-tests.js'
import { Directories } from '../../../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

mirrorStoreTests('a mirror in a folder', () => {
  const path = join(directories.fresh(), 'of', 'a mirror')
  return Promise.resolve({ open: () => FolderStore.open(path) })
})

describe('a mirror in a folder', () => {
  let path: string
  let store: FolderStore
  beforeEach(async () => {
    path = directories.fresh()
    store = await FolderStore.open(path)
  })
  afterEach(() => store.close())

  it('has files that other users may read, and nothing of unfinished ones', async () => {
    await store.putAll([mirrorFile('map/00/aa')])
    await store.replace(mirrorFile('head'))
    expect(statSync(join(path, 'map/00/aa')).mode & 0o444).toBe(0o444)
    expect(statSync(join(path, 'map/00')).mode & 0o555).toBe(0o555)
    expect(readdirSync(join(path, '.new'))).toEqual([])
  })

  it('removes what a process left unfinished when it is opened', async () => {
    await store.close()
    writeFileSync(join(path, '.new', '17'), 'half of a f')
    mkdirSync(join(path, '.new', 'folder'))
    store = await FolderStore.open(path)
    expect(readdirSync(join(path, '.new'))).toEqual([])
    expect(await namesIn(store, '')).toEqual([])
  })

  it('writes a file again whose length is another one', async () => {
    const file = mirrorFile('map/00/aa')
    await store.putAll([file])
    writeFileSync(join(path, file.name), file.bytes.subarray(1))
    await store.putAll([file])
    expect(readFileSync(join(path, file.name))).toEqual(Buffer.from(file.bytes))
  })

  it('leaves links, folders and strange names alone, and lists none of them', async () => {
    const elsewhere = directories.fresh()
    mkdirSync(join(path, 'map/dir'), { recursive: true })
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'x'), 'not of the mirror')
    writeFileSync(join(path, 'README'), 'by hand')
    symlinkSync(join(elsewhere, 'x'), join(path, 'map/link'))
    symlinkSync(elsewhere, join(path, 'leaf'))
    await store.putAll([mirrorFile('map/00/aa')])
    expect(await namesIn(store, '')).toEqual(['map/00/aa'])
    expect(await namesIn(store, 'leaf')).toEqual([])
    expect(await store.has('map/link')).toBe(false)
    expect(await store.get('map/link', 4096)).toBeUndefined()
    expect(await store.get('map/dir', 4096)).toBeUndefined()
    await store.deleteAll(['map/link', 'map/dir', 'map/00/aa'])
    expect(lstatSync(join(path, 'map/link')).isSymbolicLink()).toBe(true)
    for (const name of ['map/link', 'map/dir', 'leaf/x']) {
      const where = name.startsWith('leaf') ? 'leaf' : name
      const said = expect.objectContaining({
        message: expect.stringMatching(`${where} is where the mirror has a (file|folder), and is none; move it away`),
      })
      await expect(store.putAll([mirrorFile(name)])).rejects.toEqual(said)
      await expect(store.replace(mirrorFile(name))).rejects.toEqual(said)
    }
    expect(readFileSync(join(elsewhere, 'x'), 'utf8')).toBe('not of the mirror')
    expect(existsSync(join(path, 'README'))).toBe(true)
  })

  it('is opened through a link to it', async () => {
    const link = directories.fresh('link')
    await store.close()
    symlinkSync(path, link)
    store = await FolderStore.open(link)
    await store.putAll([mirrorFile('map/00/aa')])
    expect(existsSync(join(path, 'map/00/aa'))).toBe(true)
  })

  it('is refused while another store has it open, and taken afterwards', async () => {
    const said = `another process writes the mirror ${path}; stop it, or choose another folder`
    await expect(FolderStore.open(path)).rejects.toMatchObject({ message: said, kind: 'in-use', name: 'UserError' })
    await store.putAll([mirrorFile('map/00/aa')])
    await store.close()
    store = await FolderStore.open(path)
    expect(await store.has('map/00/aa')).toBe(true)
  })

  it('says that its folder is a file, or below one', async () => {
    const file = directories.fresh('file')
    writeFileSync(file, '')
    await expect(FolderStore.open(file)).rejects.toThrow(
      new UserError(`${file} is a file, and no directory: choose another place`),
    )
    await expect(FolderStore.open(join(file, 'below'))).rejects.toThrow('choose another folder')
    await store.replace(mirrorFile('map'))
    await expect(store.putAll([mirrorFile('map/00/aa')])).rejects.toThrow('map is where the mirror has a folder')
  })

  it('says that its folder is gone, and goes on once it is there again', async () => {
    await store.putAll([mirrorFile('map/00/aa')])
    rmSync(join(path, 'map'), { recursive: true })
    await expect(store.putAll([mirrorFile('map/00/aa')])).rejects.toThrow('its folder is gone')
    await store.putAll([mirrorFile('map/00/aa')])
    expect(await namesIn(store, '')).toEqual(['map/00/aa'])
    rmSync(join(path, '.new'), { recursive: true })
    await expect(store.replace(mirrorFile('head'))).rejects.toThrow(UserError)
  })

  it('waits with its end for what is under way', async () => {
    const files = mirrorFiles(200)
    const put = store.putAll(files)
    await store.close()
    store = await FolderStore.open(path)
    await put
    expect(await namesIn(store, '')).toHaveLength(200)
  })

  it('leaves nothing unfinished after files that cannot be written', async () => {
    mkdirSync(join(path, 'map/00'), { recursive: true })
    mkdirSync(join(path, 'map/00/aa'))
    await expect(store.putAll([...mirrorFiles(50), mirrorFile('map/00/aa')])).rejects.toThrow('move it away')
    expect(readdirSync(join(path, '.new'))).toEqual([])
  })

  it('waits for no pipe', async () => {
    execFileSync('mkfifo', [join(path, 'head')])
    expect(await store.get('head', 5)).toBeUndefined()
    await expect(store.replace(mirrorFile('head'))).rejects.toThrow('move it away')
  })
})
