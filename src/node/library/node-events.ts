import { UserError } from '../../base/errors/rule-error.js'
import type { EventLog } from '../../ledger/events/event-log.js'
import type { LedgerEvent } from '../../ledger/events/ledger-event.js'
import { neighborOf } from '../../network/peers/neighbor.js'
import type { Peer } from '../../network/peers/peer-record.js'
import type { Node } from '../node.js'
import type { Log } from '../../base/runtime/env.js'
import { listenToDocuments } from './node-documents.js'
import type { NodeEventMap, NodeEvents } from './node-types.js'

type Listeners = { readonly [Name in keyof NodeEventMap]: Set<(event: NodeEventMap[Name]) => void> }

/** The events of a node for the program around it. A listener that throws affects neither the node nor other listeners. */
export function nodeEvents(
  {
    events: log,
    failure,
    network,
  }: Pick<Node, 'failure' | 'network'> & { readonly events: Pick<EventLog, 'at' | 'events' | 'last'> | EventLog },
  logger: Log,
): NodeEvents {
  const listeners: Listeners = {
    block: new Set(),
    transaction: new Set(),
    did: new Set(),
    credential: new Set(),
    peer: new Set(),
    sync: new Set(),
    error: new Set(),
  }
  const guarded = (name: string, run: () => unknown) => {
    const failed = (error: unknown) =>
      logger.error({ event: name, error: String(error) }, 'a listener of the node failed')
    try {
      const returned = run()
      // An unhandled rejection would end the process.
      if (returned instanceof Promise) returned.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
  const call = <Name extends keyof NodeEventMap>(name: Name, event: NodeEventMap[Name]) => {
    for (const listener of [...listeners[name]]) guarded(name, () => listener(event))
  }
  const emit = ({ number, data }: LedgerEvent) => {
    if (data.topic === 'block') call('block', { number, ...data })
    else if (data.topic === 'did') call('did', { number, ...data })
    else if (data.topic === 'credential') call('credential', { number, ...data })
    else if (data.topic === 'transaction') call('transaction', { number, ...data })
  }
  let delivered = log.last
  log.events.on('appended', () => {
    while (delivered < log.last) emit(log.at(++delivered))
  })
  const { peers, sync } = network?.network ?? {}
  const show = (action: 'joined' | 'left') => (peer: Peer) => call('peer', { action, ...neighborOf(peer) })
  peers?.events.on('joined', show('joined'))
  peers?.events.on('left', show('left'))
  sync?.events.on('progress', (progress) => call('sync', progress))
  failure.catch((error: unknown) => call('error', error instanceof Error ? error : new Error(String(error))))
  return {
    documents: (selection, listener) => {
      if (typeof listener !== 'function') throw new UserError('events: the listener of documents is no function')
      return listenToDocuments(log as EventLog, selection, {
        call: (event) => guarded('documents', () => listener(event)),
        fail: (error) =>
          logger.error({ event: 'documents', error: String(error) }, 'events about documents end: some are not kept'),
      })
    },
    on: (name, listener) => {
      if (!Object.hasOwn(listeners, name)) throw new UserError(`events: there is no event ${String(name)}`)
      if (typeof listener !== 'function') throw new UserError(`events: the listener of ${name} is no function`)
      listeners[name].add(listener)
      return () => void listeners[name].delete(listener)
    },
  }
}
