import type * as Crypto from 'node:crypto'

/** What this program uses of Node's modules where web pages run the same file: no import, which a page could not resolve. */
type Modules = {
  readonly process?: { getBuiltinModule?(name: 'node:crypto'): typeof Crypto | undefined }
}

/** OpenSSL by way of Node; undefined in a web page. */
export const nodeCrypto = (globalThis as Modules).process?.getBuiltinModule?.('node:crypto')
