import { expect, it } from 'vitest'
import { lies, minedLies } from '../support/builders/lies.js'
import { bundleForBrowser } from '../support/web/bundle.js'
import { runInChromium } from '../support/web/chromium.js'
import { lightRecords } from '../support/web/light-records.js'
import { replay } from '../support/web/light-replay.js'

it('a light resolver in Chromium refuses every lie, and believes every truth, as one in Node does', async () => {
  const records = await lightRecords()
  const failures = [...lies, ...minedLies].map(([name, failure]) => [name, failure])
  const refused = records.slice(0, failures.length)
  expect(refused.map(({ name, outcome }) => [name, outcome])).toEqual(failures)
  const believed = records.slice(failures.length)
  expect(believed.length).toBe(20)
  for (const { name, outcome } of believed) expect(JSON.parse(outcome), name).toHaveProperty('proved')
  // Here once more, so that a difference is that of the browser.
  for (const record of records) expect([record.name, await replay(record)]).toEqual([record.name, record.outcome])
  const { text } = bundleForBrowser(
    "import { replayPage } from './test/support/web/light-replay.ts'; void replayPage()",
  )
  const outcomes = JSON.parse(await runInChromium(text, { records })) as string[]
  expect(outcomes.map((outcome, i) => [records[i]?.name, outcome])).toEqual(
    records.map(({ name, outcome }) => [name, outcome]),
  )
})
