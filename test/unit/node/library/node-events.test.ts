import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import type { LedgerEvent } from '../../../../src/ledger/events/ledger-event.js'
import { nodeEvents } from '../../../../src/node/library/node-events.js'
import { quietLog } from '../../../support/builders/chain.js'

const emptyLog = () => ({
  last: 0,
  events: new EventEmitter<{ appended: [] }>(),
  at: (number: number): LedgerEvent => {
    throw new RangeError(`no event ${number}`)
  },
})

it('tells every listener that the node cannot go on, and logs what one throws', async () => {
  const log = quietLog()
  const events = emptyLog()
  const failure = Promise.reject(new Error('the disk is full'))
  failure.catch(() => {})
  const told = nodeEvents({ events, failure, network: undefined }, log)
  const heard: string[] = []
  told.on('error', () => {
    throw new Error('a listener of mine')
  })
  told.on('error', async () => Promise.reject(new Error('another one, later')))
  told.on('error', ({ message }) => heard.push(message))
  await failure.catch(() => {})
  await Promise.resolve()
  expect(heard).toEqual(['the disk is full'])
  await expect.poll(() => log.errors).toHaveLength(2)
  expect(log.errors).toEqual([
    { fields: { event: 'error', error: 'Error: a listener of mine' }, message: 'a listener of the node failed' },
    { fields: { event: 'error', error: 'Error: another one, later' }, message: 'a listener of the node failed' },
  ])
})

it('knows no other events, and calls nothing but functions', () => {
  const events = emptyLog()
  const { on } = nodeEvents({ events, failure: new Promise<never>(() => {}), network: undefined }, quietLog())
  expect(() => on('blocks' as 'block', () => {})).toThrow('there is no event blocks')
  expect(() => on('block', JSON.parse('5'))).toThrow('no function')
})
