/**
 * The entry `didledger/resolver`: resolves DIDs by a remote node, for programs and web pages without one. Nothing here needs more
 * than `fetch`.
 */
export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export type * from '../../identity/did/resolution.js'
export type * from '../../identity/did/state-proof.js'
export {
  isKeyIdentifier,
  type W3cDocument,
  w3cDocument,
  type W3cService,
  type W3cVerificationMethod,
} from '../../identity/did/w3c.js'
export { HttpResolver, type HttpResolverOptions } from '../../clients/client/http-resolver.js'
export type * from './did-resolver-types.js'
export { type DidSource, getResolver, type GetResolverOptions } from './get-resolver.js'
