import type { LedgerEvent } from '../events/event.js'
import type { Log } from '../env.js'
import type { Node } from '../node.js'
import type { NodeEventMap, NodeEvents } from './node.js'

type Listeners = { readonly [Name in keyof NodeEventMap]: Set<(event: NodeEventMap[Name]) => void> }

/** The events of a node for the program around it. A listener that throws disturbs neither the node nor other listeners. */
export function nodeEvents({ events: log, failure }: Pick<Node, 'events' | 'failure'>, logger: Log): NodeEvents {
  const listeners: Listeners = { block: new Set(), transaction: new Set(), did: new Set(), error: new Set() }
  const call = <Name extends keyof NodeEventMap>(name: Name, event: NodeEventMap[Name]) => {
    for (const listener of [...listeners[name]]) {
      try {
        listener(event)
      } catch (error) {
        logger.error({ event: name, error: String(error) }, 'a listener of the node failed')
      }
    }
  }
  const tell = ({ number, data }: LedgerEvent) => {
    if (data.topic === 'block') call('block', { number, ...data })
    else if (data.topic === 'did') call('did', { number, ...data })
    else call('transaction', { number, ...data })
  }
  let told = log.last
  log.events.on('appended', () => {
    while (told < log.last) tell(log.at(++told))
  })
  failure.catch((error: unknown) => call('error', error instanceof Error ? error : new Error(String(error))))
  return {
    on: (name, listener) => {
      listeners[name].add(listener)
      return () => void listeners[name].delete(listener)
    },
  }
}
