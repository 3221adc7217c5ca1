import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { mirrorUrl } from '../../../../src/program/cli/mirror-url.js'

describe('the URL of a mirror', () => {
  it.each([
    ['https://files.example/ledger/', 'https://files.example/ledger'],
    ['127.0.0.1:8090', 'http://127.0.0.1:8090'],
    ['files.example', 'http://files.example'],
  ])('is that of a server: %s', (text, url) => {
    expect(mirrorUrl(text)).toBe(url)
  })

  it.each([
    's3://bucket/ledger',
    'S3://bucket',
    'file:///srv/mirror',
    './mirror',
    '../mirror',
    '/srv/mirror',
    '~/mirror',
    '.',
    'C:\\mirror',
  ])('is not the place where one is written: %s', (text) => {
    expect(() => mirrorUrl(text)).toThrow(UserError)
    expect(() => mirrorUrl(text)).toThrow(/^.*: a mirror is read at the http or https URL/)
  })
})
