/**
 * The entry `didledger/resolver`: resolves DIDs by a remote node, and follows its events, for programs and web pages without one. Nothing
 * here needs more than `fetch` and, for events, `WebSocket`.
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
export type * from '../../base/primitives/chain-event.js'
export type { EventGap, EventsBegin, EventsFrom, FollowedEvent } from '../../clients/client/event-place.js'
export type { SocketEvent, WebSocketClass, WebSocketLike } from '../../clients/client/event-socket.js'
export { followEvents, type FollowOptions } from '../../clients/client/follow-events.js'
export { HttpResolver, type HttpResolverOptions } from '../../clients/client/http-resolver.js'
export type * from './did-resolver-types.js'
export { type DidSource, getResolver, type GetResolverOptions } from './get-resolver.js'
