import { expect, it } from 'vitest'
import { MirrorServer } from '../../../../src/clients/light/mirror-server.js'
import { failureOf } from '../../../support/builders/light-world.js'

const zeros = '00'.repeat(32)

it('remembers the last eight heads, however many a mirror shows as cosigned', async () => {
  let height = 0
  const head = () => ({
    ...{ format: 'didledger/mirror/1', chain: zeros, hash: zeros, mapRoot: zeros, didRoot: zeros },
    ...{ height, changes: 0, headers: 0, anchor: {}, cosignatures: [], written: '' },
  })
  const server = new MirrorServer(
    'http://mirror',
    () => Promise.resolve(new Response(JSON.stringify(head()))),
    () => 0,
  )
  for (height = 1; height <= 9; height++) await server.get('witnessed')
  const at = (asked: number) => server.call('resolvedid', { did: 'did:ledger:none', height: asked, proof: true })
  expect(await at(2)).toMatchObject({ status: 3 })
  expect(await at(9)).toMatchObject({ status: 3 })
  expect(await failureOf(at(1))).toBe('proof-missing')
})
