import { expect, it } from 'vitest'
import { MirrorServer } from '../../../../src/clients/light/mirror-server.js'
import { failureOf } from '../../../support/builders/light-world.js'

const zeros = '00'.repeat(32)

const serverWith = (file: unknown) =>
  new MirrorServer(
    'http://mirror',
    () => Promise.resolve(new Response(JSON.stringify(file))),
    () => 0,
  )
const headAt = (height: number) => ({
  ...{ format: 'didledger/mirror/1', chain: zeros, hash: zeros, mapRoot: zeros, didRoot: zeros },
  ...{ height, changes: 0, headers: 0, anchor: {}, cosignatures: [], written: '' },
})
const cosigned = (heads: unknown) => ({ format: 'didledger/mirror-cosigned/1', heads })

it('shows the cosigned heads of a mirror, at most four', async () => {
  const heads = [4, 3, 2, 1].map(headAt)
  expect(await serverWith(cosigned(heads)).get('witnessed')).toMatchObject({
    heads: [4, 3, 2, 1].map((height) => ({ height })),
  })
  expect(await failureOf(serverWith(cosigned([5, 4, 3, 2, 1].map(headAt))).get('witnessed'))).toBe('mirror-file')
  for (const wrong of [null, headAt(1), cosigned({}), cosigned([null]), cosigned([{ ...headAt(1), hash: '' }])]) {
    expect(await failureOf(serverWith(wrong).get('witnessed'))).toBe('mirror-file')
  }
})

it('reads a list of cosigned heads of 1 MiB, and none with a byte more', async () => {
  const text = JSON.stringify(cosigned([headAt(1)]))
  const server = (size: number) =>
    new MirrorServer(
      'http://mirror',
      () => Promise.resolve(new Response(text.padEnd(size))),
      () => 0,
    )
  expect(await server(1_048_576).get('witnessed')).toMatchObject({ heads: [{ height: 1 }] })
  expect(await failureOf(server(1_048_577).get('witnessed'))).toBe('mirror-file')
})

it('remembers the last eight heads, however many a mirror shows as cosigned', async () => {
  let height = 0
  const server = new MirrorServer(
    'http://mirror',
    (url) =>
      Promise.resolve(
        new Response(JSON.stringify(url.endsWith('/cosigned') ? cosigned([headAt(height)]) : headAt(height))),
      ),
    () => 0,
  )
  for (height = 1; height <= 9; height++) await server.get('witnessed')
  const at = (asked: number) => server.call('resolvedid', { did: 'did:ledger:none', height: asked, proof: true })
  expect(await at(2)).toMatchObject({ status: 3 })
  expect(await at(9)).toMatchObject({ status: 3 })
  expect(await failureOf(at(1))).toBe('proof-missing')
})
