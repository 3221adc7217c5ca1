import { expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { typedUrl } from '../../../../src/clients/client/typed-url.js'

it.each([' http://[::1]:20334\n', '[::1]:20334/api/v1'])('a URL is taken with blanks around it: %j', (text) => {
  expect(typedUrl(text)).toBe('http://[::1]:20334')
})

it.each(['20334', ' 20334 ', '', 'ftp://x'])('what is no URL is refused, and a port alone is none: %j', (text) => {
  expect(() => typedUrl(text)).toThrow(UserError)
  expect(() => typedUrl(text)).toThrow(`not a URL of the form http://host:port: ${text.trim()}`)
})

it.each(['http://ada:s3cret@node.example', 'ada:s3/cret?@node.example:1', 'ws://ada:s3cret@h'])(
  'a password is refused, and not shown: %s',
  (text) => {
    expect(() => typedUrl(text)).toThrow(/neither a user name nor a password(?!.*cret)/)
  },
)
