import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'
import { eventually } from '../support/process/patience.js'
import { bundleForBrowser } from '../support/web/bundle.js'
import { runInChromium } from '../support/web/chromium.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'
import { outcomesOver } from '../support/web/mirror-questions.js'

/** The files of a mirror in a real Chromium, once no node is left: by the page beside them, and by a page of another origin. */

const directories = new Directories()
const folder = directories.fresh('mirror')
const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const absent = 'did:ledger:iYPnCBXuuqKm7AqCfmrRqiDj7ZWyYY5N46'
let files: CommandProcess
let browser: ExplorerBrowser
let mirror: string
let trust: unknown
/** What a test has to undo or close. */
const restore: (() => unknown)[] = []

beforeAll(async () => {
  const node = await NodeProcess.start('devnet', '--mirror', folder)
  await runJson('did', 'create', '--devnet-account', '0', '--rest', node.line.rest)
  await eventually('a mirror of block 1', () => existsSync(join(folder, 'head')) && heightOf() > 0)
  await node.stop('SIGTERM')
  trust = JSON.parse((await run('genesis', 'trust', 'devnet')).out)
  files = new CommandProcess(['serve-static', folder, '--port', '0', '--json'])
  mirror = (JSON.parse((await files.firstLine()) as string) as { listens: string[] }).listens[0] as string
  browser = await ExplorerBrowser.start()
})
afterEach(async () => {
  for (const undo of restore.splice(0)) await undo()
})
afterAll(async () => {
  await browser?.close()
  files?.kill('SIGTERM')
  await files?.finished
  directories.remove()
})

const heightOf = () => (JSON.parse(readFileSync(join(folder, 'head'), 'utf8')) as { height: number }).height

/** A browser that knows no file yet: those of a map and its leaves are never asked for twice. */
async function opened(): Promise<Explorer> {
  const explorer = await browser.open(mirror)
  restore.push(() => explorer.close())
  return explorer
}

/** Turns a bit in the middle of each file below a folder of the mirror, until the test has ended. */
function damage(part: string): void {
  for (const entry of readdirSync(join(folder, part), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    restore.push(() => writeFileSync(path, bytes))
    const changed = Uint8Array.from(bytes)
    const middle = changed.length >> 1
    changed[middle] = (changed[middle] as number) ^ 1
    writeFileSync(path, changed)
  }
}

describe('the page beside the files', () => {
  it('resolves a DID, says what was checked, and asks no other host', async () => {
    const explorer = await opened()
    await explorer.load(`/mirror.html?did=${did}`)
    await explorer.shows('✓ proved')
    const text = await explorer.text('main')
    expect(text).toContain('the signatures of a quorum of its validators')
    expect(text).toMatch(/block 1,/)
    expect(explorer.misdeeds).toEqual({ errors: [], foreign: [] })
  })

  it('proves that a DID does not exist, entered by hand', async () => {
    const explorer = await opened()
    await explorer.load('/mirror.html')
    await explorer.page.getByRole('searchbox').fill(absent)
    await explorer.page.keyboard.press('Enter')
    await explorer.shows('✓ proved')
    expect(await explorer.text('main')).toContain('operations 0')
  })

  it.each(['map', 'leaf'])('names the check that a file below %s fails, and shows nothing of it', async (part) => {
    damage(part)
    const explorer = await opened()
    await explorer.load(`/mirror.html?did=${did}`)
    await explorer.shows('Not proved')
    const [outcome] = await outcomesOver({ mirror, trust, dids: [did], now: Date.now() / 1000 })
    expect(await explorer.text('main')).toContain(`Not proved ${outcome}`)
    expect(await explorer.page.getByText('✓ proved').count()).toBe(0)
  })
})

describe('a page of another origin', () => {
  it('has a light resolver that answers over the mirror as one in Node does', async () => {
    const { text } = bundleForBrowser(
      "import { mirrorQuestionsPage } from './test/support/web/mirror-questions.ts'; void mirrorQuestionsPage()",
    )
    const questions = { mirror, trust, dids: [did, absent], now: Math.floor(Date.now() / 1000) }
    const here = await outcomesOver(questions)
    expect(here.map((one) => (JSON.parse(one) as { status: number }).status)).toEqual([0, 3])
    expect(JSON.parse(await runInChromium(text, questions))).toEqual(here)
    damage('leaf')
    const refused = await outcomesOver(questions)
    expect(refused).not.toEqual(here)
    expect(JSON.parse(await runInChromium(text, questions))).toEqual(refused)
  })
})
