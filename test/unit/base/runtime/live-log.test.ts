import { expect, it } from 'vitest'
import { liveCategories, liveChoice } from '../../../../src/base/runtime/live-log.js'

it.each([
  ['all', [...liveCategories]],
  ['none', []],
  ['calls', ['calls']],
  ['blocks,calls', ['blocks', 'calls']],
  ['all,no-calls', liveCategories.filter((name) => name !== 'calls')],
  ['no-calls', ['blocks']],
  ['no-calls,peers', ['blocks', 'peers']],
])('%s is a choice', (text, chosen) => expect([...(liveChoice(text, ['calls', 'blocks']) ?? [])]).toEqual(chosen))

it.each([
  '',
  'call',
  'calls,',
  ',calls',
  'calls blocks',
  'no-all',
  'no-none',
  'none,calls',
  'Calls',
  'no-',
  '__proto__',
])('%j is none', (text) => expect(liveChoice(text)).toBeUndefined())
