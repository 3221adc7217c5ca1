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
