import type * as Crypto from 'node:crypto'

/** Node's modules as far as files use them that web pages run too: an import could not be resolved by a page. */
type Modules = {
  readonly process?: { getBuiltinModule?(name: 'node:crypto'): typeof Crypto | undefined }
}

/** OpenSSL by way of Node; undefined in a web page. */
export const nodeCrypto = (globalThis as Modules).process?.getBuiltinModule?.('node:crypto')
