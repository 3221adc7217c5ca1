import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { systemTimers } from '../../../src/base/runtime/process-env.js'
import { systemRandom } from '../../../src/base/runtime/system-random.js'
import type { MirrorStore } from '../../../src/ledger/mirror/mirror-store.js'
import { openS3Store } from '../../../src/ledger/mirror/s3-store.js'
import { type Fault, FaultProxy, faults } from '../fakes/fault-proxy.js'
import { mirrorFile, mirrorFiles, namesIn } from './mirror-store-tests.js'
import { oneIn } from '../process/thorough.js'

/** A server with a bucket that holds nothing of these tests. */
export interface TestedServer {
  readonly url: string
  readonly bucket: string
  /** Names its key. */
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Waits are a hundredth, and a request has little time. */
const surroundings = {
  clock: Date,
  random: systemRandom,
  timers: { after: (milliseconds: number, callback: () => void) => systemTimers.after(milliseconds / 100, callback) },
  requestTime: 250,
}

const files = mirrorFiles(6)
const [gone, alsoGone, ...kept] = files.map(({ name }) => name)

/** Writes, replaces, reads, lists and deletes. */
async function useAll(store: MirrorStore): Promise<void> {
  await store.putAll(files)
  await store.replace(mirrorFile('head', 100))
  await store.replace(mirrorFile('head', 200))
  expect((await store.get('head', 200))?.length).toBe(200)
  expect(await store.has('head')).toBe(true)
  await store.deleteAll([gone, alsoGone] as string[])
  expect(await namesIn(store, '')).toEqual([...kept, 'head'].sort())
}

async function expectContent(store: MirrorStore): Promise<void> {
  expect(await namesIn(store, '')).toEqual([...kept, 'head'].sort())
  for (const file of [...files.slice(2), mirrorFile('head', 200)]) {
    expect(Buffer.from((await store.get(file.name, 4096)) as Uint8Array)).toEqual(Buffer.from(file.bytes))
  }
}

/** Tests of the store for object stores over a server, through a proxy that injects faults. */
export function storeFaultTests(name: string, start: () => Promise<TestedServer>): void {
  describe(name, () => {
    let server: TestedServer
    let proxy: FaultProxy
    let places = 0
    beforeAll(async () => {
      server = await start()
      proxy = await FaultProxy.open(server.url)
    })
    afterAll(async () => {
      await proxy.close()
      await server.close()
    })

    const fresh = () => `s3://${server.bucket}/faults/${places++}`
    const open = (place: string) =>
      openS3Store(place, { ...server.variables, AWS_ENDPOINT_URL: proxy.url }, surroundings)

    /** Number of requests of {@link useAll}, with that which opens the store. */
    async function requestsOf(faultAt: FaultProxy['faultAt'], place = fresh()): Promise<number> {
      proxy.count = 0
      proxy.faultAt = faultAt
      const store = await open(place)
      await useAll(store)
      const { count } = proxy
      proxy.faultAt = () => undefined
      await expectContent(store)
      await store.close()
      return count
    }

    it.each(faults)('ends with the right files if any one request meets this: %s', async (fault) => {
      const total = await requestsOf(() => undefined)
      expect(total).toBeGreaterThan(10)
      // A usual run tries one place in three, of each kind of fault other ones.
      const step = oneIn(3)
      for (let at = 1 + (faults.indexOf(fault) % step); at <= total; at += step) {
        // A busy store makes some requests go again, so that no two runs need have as many.
        expect(await requestsOf((count) => (count === at ? fault : undefined)), `at ${at}`).toBeGreaterThan(10)
      }
    })

    it('ends with the right files if every second request meets one fault or another', async () => {
      for (const offset of faults.keys()) {
        const faultAt = (count: number): Fault | undefined =>
          count % 2 === 0 ? faults[(count / 2 + offset) % faults.length] : undefined
        await requestsOf(faultAt)
      }
    })

    it.each(faults)(
      'fails cleanly if all requests from one on meet this, and is completed later: %s',
      async (fault) => {
        for (const at of [1, 2, 9]) {
          const place = fresh()
          await expect(requestsOf((count) => (count >= at ? fault : undefined), place)).rejects.toThrow(UserError)
          await requestsOf(() => undefined, place)
        }
      },
    )
  })
}
