import { expect, it } from 'vitest'
import { concat } from '../../../../src/base/primitives/bytes.js'
import { FileBudget, MirrorFiles } from '../../../../src/clients/light/mirror-files.js'
import { pageFile, pageName, type MirrorPage, readPageFile } from '../../../../src/identity/proofs/mirror-page.js'
import { failureOf } from '../../../support/builders/light-world.js'

const place = { depth: 0, key: new Uint8Array(32) }

/** A page that holds one leaf in its first slot. */
function pageOf(number: number): { readonly bytes: Uint8Array; readonly hash: Uint8Array } {
  const value = new Uint8Array(32)
  new DataView(value.buffer).setUint32(0, number)
  const bytes = pageFile(place, concat(Uint8Array.of(1, 0, 0, 0), place.key, value))
  return { bytes, hash: (readPageFile(bytes, place) as MirrorPage).hash }
}

it('remembers 1,024 pages, those that were used last', async () => {
  const pages = Array.from({ length: 1030 }, (_, i) => pageOf(i))
  const files = new Map(pages.map(({ bytes, hash }) => [`http://mirror/${pageName(hash)}`, bytes]))
  const read: string[] = []
  const mirror = new MirrorFiles('http://mirror', async (url) => {
    read.push(url)
    return new Response(Uint8Array.from(files.get(url) ?? []))
  })
  const ask = (number: number) => mirror.page((pages[number] as (typeof pages)[number]).hash, place, new FileBudget())
  for (let number = 0; number < 1024; number++) await ask(number)
  await ask(0)
  expect(read).toHaveLength(1024)
  await ask(1024)
  // The first is used by each question, the second was by none since.
  await ask(0)
  expect(read).toHaveLength(1025)
  await ask(1)
  expect(read).toHaveLength(1026)
})

it('asks again for a page that was not what it is named', async () => {
  const { bytes, hash } = pageOf(1)
  const answers = [pageOf(2).bytes, bytes]
  const mirror = new MirrorFiles('http://mirror', async () => new Response(Uint8Array.from(answers.shift() ?? [])))
  expect(await failureOf(mirror.page(hash, place, new FileBudget()))).toBe('mirror-file')
  expect((await mirror.page(hash, place, new FileBudget())).hash).toEqual(hash)
})

it.each([206, 300, 403, 404, 418, 500])('leaves no connection open after HTTP %d', async (status) => {
  let cancelled = false
  const endless = new ReadableStream({
    pull: (stream) => stream.enqueue(new Uint8Array(1024)),
    cancel: () => void (cancelled = true),
  })
  const mirror = new MirrorFiles('http://mirror', async () => new Response(endless, { status }))
  const expected = status === 404 ? 'proof-missing' : 'unreachable'
  expect(await failureOf(mirror.json('head', 1024, new FileBudget()))).toBe(expected)
  expect(cancelled).toBe(true)
})
