import { type ChildProcess, spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openS3Store } from '../../../src/ledger/mirror/s3-store.js'
import { systemTimers } from '../../../src/base/runtime/process-env.js'
import { systemRandom } from '../../../src/base/runtime/system-random.js'
import { mirrorStoreTests } from '../../support/assert/mirror-store-tests.js'
import { storeFaultTests, type TestedServer } from '../../support/assert/store-fault-tests.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { holder } from '../../support/builders/did.js'
import { keysOf } from '../../support/builders/light-scene.js'
import { lightOverMirror } from '../../support/builders/mirror-scene.js'
import { mirrorOnce } from '../../support/builders/mirrored.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'
import { isOpen } from '../../support/network/balancer.js'
import { startChild } from '../../support/process/children.js'
import { eventually } from '../../support/process/patience.js'
import { portBase } from '../../support/process/ports.js'

/**
 * The store of a mirror over a server of others: moto (PyPI: `moto[server]`), whose `moto_server` is in PATH, or named by MOTO_SERVER. It
 * checks no signatures; the store of the other tests does.
 */

const program = process.env['MOTO_SERVER'] ?? 'moto_server'
const bucket = 'a-bucket'
const surroundings = { clock: Date, random: systemRandom, timers: systemTimers }

/** Starts a server on a free port, and waits until it takes connections. */
async function started(run: (port: number) => ChildProcess): Promise<{ url: string; end(): Promise<void> }> {
  const port = Number(await portBase())
  const child = run(port)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await eventually('the port of the object store', () => isOpen(port))
  const end = () => {
    child.kill('SIGTERM')
    return closed
  }
  return { url: `http://127.0.0.1:${port}`, end }
}

async function moto(): Promise<TestedServer> {
  const { url, end } = await started((port) =>
    startChild(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' }),
  )
  await fetch(`${url}/${bucket}`, { method: 'PUT' })
  return { url, bucket, variables: { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }, close: end }
}

// Where it is not installed, .ci/run says so.
describe.skipIf(spawnSync(program, ['--version']).error !== undefined)('moto', () => {
  let server: TestedServer
  let places = 0
  beforeAll(async () => {
    server = await moto()
  })
  afterAll(() => server.close())

  mirrorStoreTests('a mirror in its bucket', () => {
    const place = `s3://${bucket}/mirror of/${places++}`
    const variables = () => ({ ...server.variables, AWS_ENDPOINT_URL: server.url })
    return Promise.resolve({ open: () => openS3Store(place, variables(), surroundings) })
  })

  it('holds a mirror by which DIDs are resolved as anyone reads its objects', async () => {
    const test = await TestChain.open({ validators: keysOf(4) })
    const ada = holder()
    const store = () =>
      openS3Store(`s3://${bucket}/whole`, { ...server.variables, AWS_ENDPOINT_URL: server.url }, surroundings)
    const mirrors = [`${server.url}/${bucket}/whole`]
    const anyone = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${bucket}/whole/*`,
    }
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [anyone] })
    await fetch(`${server.url}/${bucket}?policy`, { method: 'PUT', body: policy })
    try {
      const created = await test.publish(ada.create(), ada.did)
      await mirrorOnce(test, await store())
      await test.publish(ada.update(created), ada.did)
      const head = await mirrorOnce(test, await store())
      const scene = { test, book: await bookOf(test) }
      const light = lightOverMirror(scene, new MemoryMirror(), { mirrors, fetch })
      const { status, transaction, proved } = await light.resolve(ada.did)
      expect([status, transaction?.[0]?.operation.header.operation]).toEqual([0, 'update'])
      expect(proved).toMatchObject({ height: test.chain.tip.header.height, hash: head?.hash, servers: mirrors })
      expect((await light.resolve(holder().did)).status).toBe(3)
    } finally {
      await test.close()
    }
  })

  storeFaultTests('behind a faulty network', moto)
})
