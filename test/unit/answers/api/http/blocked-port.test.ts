import { expect, it } from 'vitest'
import { warnOfBlocked } from '../../../../../src/answers/api/http/blocked-port.js'
import type { Log } from '../../../../../src/base/runtime/env.js'

function warnedOf(port: number): string[] {
  const warnings: string[] = []
  warnOfBlocked(port, { warn: (_: object, text: string) => void warnings.push(text) } as unknown as Log)
  return warnings
}

/** Whether `fetch` of this Node sends nothing to a port, for it is blocked; nothing listens on the others. */
const isBlocked = (port: number) =>
  fetch(`http://127.0.0.1:${port}`).then(
    () => false,
    ({ cause }: Error) => (cause as Error).message === 'bad port',
  )

it.each([22, 2049, 4190, 5060, 6000, 6667, 6697, 10_080])('warns of port %i, which fetch refuses', async (port) => {
  expect(warnedOf(port)).toEqual([expect.stringContaining(`refuse port ${port}`)])
  expect(await isBlocked(port)).toBe(true)
})

it.each([80, 443, 1024, 8080, 10_079, 20_334])('says nothing of port %i', (port) => {
  expect(warnedOf(port)).toEqual([])
})
