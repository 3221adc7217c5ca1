/** The suite of Digital Bazaar has no types; these are of what the tests use. */

declare module '@digitalbazaar/data-integrity' {
  export class DataIntegrityProof {
    constructor(options: { readonly cryptosuite: object; readonly signer?: object })
  }
}
declare module '@digitalbazaar/data-integrity-context' {
  export const contexts: ReadonlyMap<string, object>
}
declare module '@digitalbazaar/multikey-context' {
  export const contexts: ReadonlyMap<string, object>
}
declare module '@digitalbazaar/ecdsa-multikey' {
  export function from(key: object): Promise<{ signer(): object }>
}
declare module '@digitalbazaar/ecdsa-rdfc-2019-cryptosuite' {
  export const cryptosuite: object
}
declare module '@digitalbazaar/vc' {
  export interface Loaded {
    readonly contextUrl: null
    readonly documentUrl: string
    readonly document: object
  }
  export type Loader = (url: string) => Promise<Loaded>
  export const defaultDocumentLoader: Loader
  interface Options {
    readonly credential: object
    readonly suite: object
    readonly documentLoader: Loader
  }
  export function issue(options: Options): Promise<object>
  export function verifyCredential(
    options: Options & {
      readonly checkStatus: (options: { credential: object }) => Promise<{ verified: boolean; error?: unknown }>
    },
  ): Promise<{ verified: boolean; error?: unknown }>
}
