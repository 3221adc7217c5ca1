import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openMirrorStore } from '../../../../src/ledger/mirror/open-mirror-store.js'
import { mirrorFile } from '../../../support/assert/mirror-store-tests.js'
import { ObjectStore } from '../../../support/fakes/object-store.js'
import { Directories } from '../../../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

it('a path is a folder, and s3:// a place in an object store', async () => {
  const path = directories.fresh()
  const folder = await openMirrorStore(path, {})
  await folder.putAll([mirrorFile('map/00/aa')])
  await folder.close()
  expect(existsSync(join(path, 'map/00/aa'))).toBe(true)
  const objects = await ObjectStore.open()
  const store = await openMirrorStore(`s3://${objects.bucket}/x`, objects.variables)
  await store.putAll([mirrorFile('map/00/aa')])
  await store.close()
  await objects.close()
  expect([...objects.objects.keys()]).toEqual(['x/map/00/aa'])
})

it('refuses what looks like a URL of something else', async () => {
  for (const target of [
    'https://bucket.example/x',
    'S3://bucket',
    'gs://bucket',
    's3:/bucket/x',
    '',
    'file:///tmp/x',
  ]) {
    await expect(openMirrorStore(target, {})).rejects.toThrow('a mirror goes to a folder, or to s3://BUCKET/PREFIX')
  }
})
