import { describe, expect, it } from 'vitest'
import { s3Place } from '../../../../src/ledger/mirror/s3-place.js'

const key = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' }

describe('s3Place', () => {
  it.each([
    ['s3://bucket', {}, 'https://bucket.s3.us-east-1.amazonaws.com/'],
    ['s3://bucket/', { AWS_DEFAULT_REGION: 'eu-west-3' }, 'https://bucket.s3.eu-west-3.amazonaws.com/'],
    [
      's3://bucket',
      { AWS_REGION: 'cn-north-1', AWS_DEFAULT_REGION: 'x' },
      'https://bucket.s3.cn-north-1.amazonaws.com.cn/',
    ],
    ['s3://with.dots', {}, 'https://s3.us-east-1.amazonaws.com/with.dots/'],
    ['s3://bucket', { AWS_ENDPOINT_URL: 'http://h:9000/' }, 'http://h:9000/bucket/'],
    ['s3://bucket', { AWS_ENDPOINT_URL: 'http://a', AWS_ENDPOINT_URL_S3: 'https://b/s3/' }, 'https://b/s3/bucket/'],
    ['s3://bucket', { AWS_ENDPOINT_URL: 'http://a', AWS_ENDPOINT_URL_S3: '' }, 'http://a/bucket/'],
  ])('finds the bucket of %s with %j at %s', (target, variables, url) => {
    expect(s3Place(target, { ...key, ...variables }).url).toBe(url)
  })

  it('separates bucket and prefix', () => {
    expect(s3Place('s3://bucket/a/b//', key)).toMatchObject({
      bucket: 'bucket',
      prefix: 'a/b/',
      shown: 's3://bucket/a/b',
    })
    expect(s3Place('s3://bucket', key)).toMatchObject({ prefix: '', credentials: { sessionToken: undefined } })
  })
})
