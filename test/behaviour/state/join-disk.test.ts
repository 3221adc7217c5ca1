import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spooledRows } from '../../../src/ledger/state/state-rows.js'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { stateFile } from '../../../src/ledger/state/parts.js'
import { latestState, stateParts } from '../../../src/ledger/state/write-state.js'
import { type DiskFiles, diskFiles, type ScratchFile } from '../../../src/ledger/storage/disk-files.js'
import { joinWithin } from '../../../src/node/join-state.js'
import { busyChain, stateHeight } from '../../support/builders/busy-chain.js'
import { oneValidator, quietLog, type TestChain } from '../../support/builders/chain.js'

const place = mkdtempSync(join(tmpdir(), 'join-disk-'))
const file = join(place, 'state.dls')
let test: TestChain

beforeAll(async () => {
  test = await busyChain({ ...oneValidator(), producer: 'sponsor', coinInterval: 330 })
  await writeFile(file, stateFile(stateParts(test.chain, latestState(test.chain))))
})

afterAll(async () => {
  await test.close()
  rmSync(place, { recursive: true })
})

/** Takes the state of the file, with other files for rows that are put in order. */
function joinWith(name: string, openScratch: DiskFiles['openScratch']) {
  const database = join(place, name)
  const directory = {
    database,
    joining: `${database}.joining`,
    joiningRows: `${database}.rows`,
    joiningPeers: `${database}.peers`,
    parts: `${database}.parts`,
  }
  const surroundings = { directory, files: { ...diskFiles, openScratch }, peering: () => Promise.resolve(undefined) }
  const node = { spec: test.spec, env: { ...systemEnv(quietLog()), clock: test.clock } }
  return joinWithin(surroundings, file, node, createInlineVerifier())
}

const left = () => readdirSync(place).filter((name) => name !== 'state.dls')

describe('a state on a disk', () => {
  it('is taken with files that nothing is left of', async () => {
    const opened: string[] = []
    const state = await joinWith('whole', (path) => {
      opened.push(path)
      return diskFiles.openScratch(path)
    })
    expect(state).toMatchObject({ height: stateHeight })
    expect(opened).toEqual(spooledRows.map((name) => join(place, 'whole.rows', name)))
    expect(left()).toEqual(['whole'])
    rmSync(join(place, 'whole'), { recursive: true })
  })

  const faults = spooledRows.flatMap((which) => (['write', 'read'] as const).map((fault) => [which, fault] as const))
  it.each(faults)('is refused where the file of %s fails to %s, and leaves nothing', async (which, fault) => {
    const closed: string[] = []
    const joining = joinWith('cut', async (path) => {
      const scratch = await diskFiles.openScratch(path)
      const close = () => scratch.close().then(() => void closed.push(path))
      const fails: ScratchFile = { ...scratch, close, [fault]: () => Promise.reject(new Error('as a disk fails')) }
      return path.endsWith(which) ? fails : { ...scratch, close }
    })
    await expect(joining).rejects.toThrow('as a disk fails')
    expect(closed).toHaveLength(spooledRows.length)
    expect(left()).toEqual([])
  })

  it.each(spooledRows)('is refused where the file of %s does not open, and leaves nothing', async (which) => {
    let open = 0
    const joining = joinWith('cut', async (path) => {
      if (path.endsWith(which)) throw new Error('no more files')
      open++
      const scratch = await diskFiles.openScratch(path)
      return { ...scratch, close: () => scratch.close().then(() => void open--) }
    })
    await expect(joining).rejects.toThrow('no more files')
    expect(open).toBe(0)
    expect(left()).toEqual([])
  })

  it.runIf(existsSync('/dev/full'))('says so where there is no room', async () => {
    const words = /^\/dev\/full cannot be written: the disk is full \(ENOSPC.*\); free some space, then start again$/
    await expect(joinWith('full', () => diskFiles.openScratch('/dev/full'))).rejects.toThrow(words)
    expect(left()).toEqual([])
  })
})
