/** The entry `didledger/events`: the events of a node, for programs and web pages that need no resolver. */
export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export type * from '../../base/primitives/chain-event.js'
export type { EventGap, EventsBegin, EventsFrom, FollowedEvent } from '../../clients/client/event-place.js'
export type { SocketEvent, WebSocketClass, WebSocketLike } from '../../clients/client/event-socket.js'
export { followEvents, type FollowOptions } from '../../clients/client/follow-events.js'
