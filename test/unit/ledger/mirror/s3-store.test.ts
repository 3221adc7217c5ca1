import { AwsV4Signer } from 'aws4fetch'
import { afterEach, describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { systemTimers } from '../../../../src/base/runtime/process-env.js'
import { systemRandom } from '../../../../src/base/runtime/system-random.js'
import { s3Tries } from '../../../../src/ledger/mirror/s3-client.js'
import { openS3Store } from '../../../../src/ledger/mirror/s3-store.js'
import type { MirrorStore } from '../../../../src/ledger/mirror/mirror-store.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { mirrorFile, mirrorFiles, mirrorStoreTests, namesIn } from '../../../support/assert/mirror-store-tests.js'
import { ObjectStore, type ObjectStoreOptions, refused } from '../../../support/fakes/object-store.js'
import { sha256, signatureOf } from '../../../support/fakes/s3-signature.js'

/** Waits are shortened, and noted. */
const waits: number[] = []
const surroundings = {
  clock: Date,
  random: systemRandom,
  timers: {
    after: (milliseconds: number, callback: () => void) => {
      waits.push(milliseconds)
      return systemTimers.after(milliseconds / 100, callback)
    },
  },
  requestTime: 2000,
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  waits.length = 0
})

async function storeWith(options: ObjectStoreOptions, prefix = '/some/prefix') {
  const objects = await ObjectStore.open(options)
  closing.push(() => objects.close())
  const open = async () => {
    const store = await openS3Store(`s3://${objects.bucket}${prefix}`, objects.variables, surroundings)
    closing.push(() => store.close())
    return store
  }
  return { objects, open }
}

async function opened(
  options: ObjectStoreOptions,
  prefix?: string,
): Promise<{ objects: ObjectStore; store: MirrorStore }> {
  const { objects, open } = await storeWith(options, prefix)
  return { objects, store: await open() }
}

/** A store that answers all but the first request, which opens it, with this. */
const afterOpening = (instead: NonNullable<ObjectStoreOptions['instead']>): ObjectStoreOptions => ({
  instead: (request, count) => (count === 1 ? undefined : instead(request, count - 1)),
})

mirrorStoreTests('a mirror in an object store', () => storeWith({}))
mirrorStoreTests('a mirror in an object store without conditions and joint deletions', () =>
  storeWith({ conditional: false, together: false, page: 7 }, ''),
)

describe('requests to an object store', () => {
  it('are for objects below the prefix, with type and times of caches', async () => {
    const { objects, store } = await opened({})
    for (const name of ['head', 'about', 'mirror.html', 'own/list', 'map/00/aa'])
      await store.replace(mirrorFile(name, 3))
    const headers = [...objects.objects].map(([key, one]) => [
      key,
      one.headers['content-type'],
      one.headers['cache-control'],
    ])
    expect(headers).toEqual([
      ['some/prefix/head', 'application/json', 'public, max-age=1, must-revalidate'],
      ['some/prefix/about', 'application/json', 'public, max-age=300'],
      ['some/prefix/mirror.html', 'text/html; charset=utf-8', 'public, max-age=300'],
      ['some/prefix/own/list', 'application/octet-stream', 'no-store'],
      ['some/prefix/map/00/aa', 'application/octet-stream', 'public, max-age=31536000, immutable'],
    ])
  })

  it.each(['a b+c&d', "ü/(1)!'*", 'per%20cent', 'x=1&y=?#'])('are signed with the prefix %s', async (prefix) => {
    const { objects, store } = await opened({ page: 1 }, `/${prefix}`)
    await store.putAll([mirrorFile('map/00/aa'), mirrorFile('map/00/bb')])
    expect([...objects.objects.keys()].sort()).toEqual([`${prefix}/map/00/aa`, `${prefix}/map/00/bb`])
    expect(await namesIn(store, 'map')).toEqual(['map/00/aa', 'map/00/bb'])
    expect(await store.has('map/00/aa')).toBe(true)
    await store.deleteAll(['map/00/aa', 'map/00/bb'])
    expect(objects.objects.size).toBe(0)
  })

  it('write new files on condition that there is none, and others always', async () => {
    const { objects, store } = await opened({})
    await store.putAll([mirrorFile('map/00/aa')])
    await store.putAll([{ name: 'map/00/aa', bytes: Buffer.from('other') }])
    await store.replace(mirrorFile('head', 5))
    await store.replace(mirrorFile('head', 6))
    const puts = objects.requests.filter(({ method }) => method === 'PUT')
    expect(puts.map(({ headers }) => headers['if-none-match'])).toEqual(['*', '*', undefined, undefined])
    expect(objects.objects.get('some/prefix/map/00/aa')?.bytes).toEqual(Buffer.from(mirrorFile('map/00/aa').bytes))
  })

  it('ask a store once that has no conditions', async () => {
    const { objects, store } = await opened({ conditional: false })
    await store.putAll([mirrorFile('map/00/aa')])
    await store.putAll(mirrorFiles(20))
    expect(objects.requests.filter(({ headers }) => headers['if-none-match'] !== undefined)).toHaveLength(1)
    expect(objects.objects.size).toBe(21)
  })

  it('are 32 at a time, and not one more', async () => {
    const { objects, store } = await opened({ gathered: 32 })
    await Promise.all([store.putAll(mirrorFiles(150)), store.putAll(mirrorFiles(150, 'more')), store.has('head')])
    expect(objects.peak).toBe(32)
  })

  it('delete 1,000 objects by one request, and one more by another', async () => {
    const { objects, store } = await opened({})
    const deleting = async (count: number) => {
      const before = objects.requests.length
      await store.deleteAll(Array.from({ length: count }, (_, i) => `change/${i}`))
      return objects.requests.slice(before).map(({ method }) => method)
    }
    expect(await deleting(1000)).toEqual(['POST'])
    expect(await deleting(1001)).toEqual(['POST', 'DELETE'])
    expect(await deleting(1002)).toEqual(['POST', 'POST'])
  })
})

describe('the signature of requests', () => {
  const key = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
  const day = { day: '20130524', region: 'us-east-1' }
  const base = 'https://examplebucket.s3.amazonaws.com'

  /** The examples that Amazon publishes in its documentation of signatures for S3. */
  it.each([
    ['GET', '/?lifecycle=', {}, '', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['GET', '/?max-keys=2&prefix=J', {}, '', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
    [
      'GET',
      '/test.txt',
      { range: 'bytes=0-9' },
      '',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT',
      '/test%24file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      'Welcome to Amazon S3.',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
  ])('of %s %s is that of the published example', async (method, target, given, body, signature) => {
    const headers = { ...given, 'x-amz-content-sha256': sha256(body) }
    const signer = new AwsV4Signer({
      ...{ method, url: base + target, headers, service: 's3', region: day.region, allHeaders: true },
      ...{ ...key, datetime: '20130524T000000Z' },
    })
    const { headers: signed } = await signer.sign()
    expect(signed.get('authorization')).toMatch(new RegExp(`Signature=${signature}$`))
    // The store of these tests computes its own.
    const all = { ...headers, host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' }
    const request = { method, target, headers: all, secret: key.secretAccessKey }
    expect(signatureOf(request, { ...day, signed: Object.keys(all).sort() })).toBe(signature)
  })

  it('is refused with another secret, and no message shows a secret', async () => {
    const { objects } = await storeWith({})
    const variables = { ...objects.variables, AWS_SECRET_ACCESS_KEY: 'another-secret' }
    const failure = await openS3Store(`s3://${objects.bucket}`, variables, surroundings).catch(
      (error: unknown) => error,
    )
    expect(String(failure)).toBe(
      'UserError: the store answered 403 SignatureDoesNotMatch to GET a list of all names in s3://a-bucket: ' +
        'the secret is not that of the key: look at AWS_SECRET_ACCESS_KEY',
    )
    expect(objects.requests).toHaveLength(1)
  })
})

describe('failures of an object store', () => {
  it.each([
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [429, 'TooManyRequests'],
    [502, 'x'],
    [504, 'x'],
    [400, 'RequestTimeout'],
    [409, 'ConditionalRequestConflict'],
  ])('%d %s passes: the request is sent again, after waits that grow', async (status, code) => {
    const { objects, store } = await opened(afterOpening((_, n) => (n < s3Tries ? refused(status, code) : undefined)))
    await store.putAll([mirrorFile('map/00/aa')])
    expect(objects.requests).toHaveLength(1 + s3Tries)
    expect(objects.objects.size).toBe(1)
    expect(waits).toHaveLength(s3Tries - 1)
    for (const [i, wait] of waits.entries()) {
      const most = Math.min(10_000, 400 * 2 ** i)
      expect(wait).toBeGreaterThanOrEqual(most / 2)
      expect(wait).toBeLessThanOrEqual(most)
    }
    expect(new Set(waits).size).toBe(waits.length)
  })

  it('that do not pass in seven attempts end with advice', async () => {
    const { objects, store } = await opened(afterOpening(() => refused(503, 'SlowDown')))
    const host = new URL(objects.url).host
    await expect(store.replace(mirrorFile('head'))).rejects.toThrow(
      `PUT head in s3://a-bucket/some/prefix failed 7 times, last because it answered 503 SlowDown: see whether ${host} is the right ` +
        'host, can be reached and is in service, then start again',
    )
    expect(objects.requests).toHaveLength(1 + s3Tries)
  })

  it('waits for as long as the store says, but no longer than ten seconds', async () => {
    const named = ['3', '7200', 'soon', '-5']
    const { store } = await opened(
      afterOpening((_, n) => {
        const wait = named[n - 1]
        return wait === undefined ? undefined : refused(503, 'SlowDown', { 'retry-after': wait })
      }),
    )
    await store.replace(mirrorFile('head'))
    expect(waits[0]).toBe(3000)
    expect(waits[1]).toBe(10_000)
    expect(waits[2]).toBeLessThanOrEqual(1600)
    expect(waits[3]).toBeLessThanOrEqual(3200)
  })

  it.each([
    [
      403,
      'AccessDenied',
      'the key may not do that: allow it s3:PutObject, s3:GetObject and s3:DeleteObject on a-bucket/some/prefix/*, and s3:ListBucket on a-bucket',
    ],
    [403, 'InvalidAccessKeyId', 'the store does not know the key: look at AWS_ACCESS_KEY_ID'],
    [400, 'ExpiredToken', 'set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN anew'],
    [403, 'RequestTimeTooSkewed', 'the clock of this machine differs from that of the store: set it'],
    [404, 'NoSuchBucket', 'there is no bucket a-bucket at 127.0.0.1:'],
    [400, 'EntityTooLarge', 'see what the store says of that'],
    [307, 'TemporaryRedirect', 'redirects are not followed'],
  ])('%d %s ends at once, and says what to do', async (status, code, advice) => {
    const location = { location: 'http://127.0.0.1:9/elsewhere' }
    const { objects, store } = await opened(afterOpening(() => refused(status, code, location)))
    for (const work of [() => store.putAll([mirrorFile('a/b')]), () => store.get('a/b', 9), () => namesIn(store, '')]) {
      const failure: unknown = await work().catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(StorageError)
      expect(String(failure)).toContain(`${status} ${code}`)
      expect(String(failure)).toContain(advice)
    }
    expect(objects.requests).toHaveLength(4)
    expect(waits).toEqual([])
  })

  it('of another region names it, unless that is no region', async () => {
    for (const [region, said] of [
      ['eu-west-3', 'set AWS_REGION=eu-west-3'],
      ['$(reboot)', 'redirects are not followed'],
    ]) {
      const { store } = await opened(
        afterOpening(() => refused(301, 'PermanentRedirect', { 'x-amz-bucket-region': String(region) })),
      )
      await expect(store.has('head')).rejects.toThrow(said)
    }
  })

  it('of a part of joint deletions are tried again, or said', async () => {
    const failing = (code: string, times: number) =>
      opened(
        afterOpening(({ method }, n) =>
          method !== 'POST' || n > times
            ? undefined
            : { status: 200, body: `<DeleteResult><Error><Key>x</Key><Code>${code}</Code></Error></DeleteResult>` },
        ),
      )
    const names = ['a/1', 'a/2']
    await (await failing('InternalError', 4)).store.deleteAll(names)
    await expect((await failing('SlowDown', 5)).store.deleteAll(names)).rejects.toThrow('failed 5 times')
    await expect((await failing('AccessDenied', 9)).store.deleteAll(names)).rejects.toThrow('s3:DeleteObject')
  })

  it.each([
    ['no list', '<html>hello</html>'],
    ['a list that is cut', '<ListBucketResult><IsTruncated>false</IsTruncated>'],
    ['a list with more and no place of it', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
    ['an endless page', 'x'.repeat(8 * 1024 * 1024 + 1)],
  ])('is that of no store: %s', async (_, body) => {
    const objects = await ObjectStore.open({ instead: () => ({ status: 200, body }) })
    closing.push(() => objects.close())
    await expect(openS3Store('s3://a-bucket', objects.variables, surroundings)).rejects.toThrow(
      'as no S3-compatible store does: look at AWS_ENDPOINT_URL_S3',
    )
  })

  it('of a list that begins anew ends it, and names of others are left out', async () => {
    const page = (keys: string[]) =>
      `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>${keys
        .map((key) => `<Contents><Key>some/prefix/${key}</Key></Contents>`)
        .join('')}</ListBucketResult>`
    const { objects, store } = await opened(
      afterOpening(() => ({
        status: 200,
        body: page(['map/00/aa', 'UPPER', '../up', 'a//b', '&lt;x&gt;', 'folder/']),
      })),
    )
    const seen: string[] = []
    const list = async () => {
      for await (const names of store.names('')) seen.push(...names)
    }
    await expect(list()).rejects.toThrow('as no S3-compatible store does')
    expect(seen).toEqual(['map/00/aa', 'map/00/aa'])
    expect(objects.requests).toHaveLength(3)
  })

  it('of an answer to a PUT that has no end is that of no store', async () => {
    const long = (bytes: number) => opened(afterOpening(() => ({ status: 200, body: 'x'.repeat(bytes) })))
    await (await long(65_536)).store.replace(mirrorFile('head'))
    const { store, objects } = await long(65_537)
    await expect(store.replace(mirrorFile('head'))).rejects.toThrow(
      'answers PUT head in s3://a-bucket/some/prefix as no S3-compatible store does',
    )
    expect(objects.requests).toHaveLength(2)
  })

  it('of an object with more bytes than its kind has is said', async () => {
    const { objects, store } = await opened({})
    objects.objects.set('some/prefix/head', { bytes: Buffer.alloc(300_000), headers: {} })
    await expect(store.get('head', 4096)).rejects.toThrow(
      'head in s3://a-bucket/some/prefix has more than 4096 bytes, the most of such a file of a mirror',
    )
    expect((await store.get('head', 300_000))?.length).toBe(300_000)
  })

  it('that never answers is waited for as long as a request may take', async () => {
    const { objects, open } = await storeWith({})
    const store = await open()
    await objects.close()
    await expect(store.has('head')).rejects.toThrow(/failed 7 times, last because of the network \(ECONN/)
  })

  it('does not keep a store from closing', async () => {
    const { store } = await opened(afterOpening(() => refused(503, 'SlowDown', { 'retry-after': '7200' })))
    const put = expect(store.putAll(mirrorFiles(50))).rejects.toMatchObject({ kind: 'closed' })
    await store.close()
    await put
  })
})

describe('places and variables', () => {
  const set = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 'very-secret', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' }

  it.each([
    ['s3://', set, 'a bucket has 3 to 255 letters'],
    ['s3:///x', set, 'a bucket has 3 to 255 letters'],
    ['s3://b%cket', set, 'a bucket has 3 to 255 letters'],
    ['s3://user:pass@bucket/x', set, 'a bucket has 3 to 255 letters'],
    ['s3://bucket/a//b', set, 'a part of the prefix is empty'],
    ['s3://bucket/../b', set, 'a part of the prefix is empty, . or ..'],
    ['s3://bucket/a\nb', set, 'not text'],
    [`s3://bucket/${'a'.repeat(500)}`, set, 'more than 500 bytes'],
    ['s3://bucket', { ...set, AWS_ACCESS_KEY_ID: '' }, 'AWS_ACCESS_KEY_ID is not set'],
    ['s3://bucket', { ...set, AWS_SECRET_ACCESS_KEY: undefined }, 'AWS_SECRET_ACCESS_KEY is not set'],
    [
      's3://bucket',
      { ...set, AWS_SECRET_ACCESS_KEY: 'very-secret\nx' },
      'AWS_SECRET_ACCESS_KEY has a space, a line break',
    ],
    ['s3://bucket', { ...set, AWS_REGION: 'a/b' }, 'AWS_REGION is no region'],
    ['s3://bucket', { ...set, AWS_ENDPOINT_URL: 'nowhere' }, 'AWS_ENDPOINT_URL is no URL'],
    ['s3://bucket', { ...set, AWS_ENDPOINT_URL: 'ftp://x' }, 'is not of https or http'],
    [
      's3://bucket',
      { ...set, AWS_ENDPOINT_URL_S3: 'https://u:very-secret@h' },
      'AWS_ENDPOINT_URL_S3 has a user or a password',
    ],
    ['s3://bucket', { ...set, AWS_ENDPOINT_URL: 'https://h/?x' }, 'has a part after ? or #'],
  ])('%s is refused before anything is sent', async (target, variables, said) => {
    const failure: unknown = await openS3Store(target, variables, surroundings).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UserError)
    expect((failure as UserError).exitCode).toBe(2)
    expect(String(failure)).toContain(said)
    expect(String(failure)).not.toContain('very-secret')
  })

  it('have a prefix of 500 bytes', async () => {
    const { store } = await opened({}, `/${'a'.repeat(499)}`)
    await store.putAll([mirrorFile('map/00/aa')])
    expect(await namesIn(store, '')).toEqual(['map/00/aa'])
  })
})
