import type { Core } from '../../src/core.js'
import { mapKey, toHex } from '../../src/primitives/bytes.js'
import { parseConfirm } from '../../src/primitives/confirm.js'
import { paramsAt } from '../../src/primitives/spec.js'
import type { Topic, Transport } from '../../src/network/link.js'
import { proposalSubject, voteSubject } from '../../src/network/wire/votes.js'
import { keys } from '../../src/storage/schema.js'
import { timeoutOf } from '../../src/voting/machine.js'
import { parseMessage } from '../../src/voting/message.js'
import { Agenda, timeless } from './clock.js'
import type { Fault, Write } from './disk.js'
import { type Ground, groundOf, type Prepared } from './ground.js'
import { SimulatedNode, type Surroundings } from './node.js'
import { Oracle, Violation } from './oracle.js'
import { Chance } from './random.js'
import type { Scenario, Storm } from './scenario.js'
import { Trace } from './trace.js'
import { Traitor } from './traitor.js'
import { fairWeather, hostOf, publicKeyOfNode, type SimulatedTransport, type Weather, Wires } from './transport.js'

/** What a run came to; a broken promise is thrown. */
export interface Report {
  readonly trace: string
  readonly height: number
  readonly events: number
  readonly crashes: number
  /** Crashes before a node had opened again. */
  readonly crashesOnStart: number
  readonly mined: number
}

/** Parts that a test replaces, to see that what it breaks is found. */
export interface Tampering {
  wrap?(node: SimulatedNode, transport: SimulatedTransport, ground: Ground): Transport
  /** Called when a node has died, before it starts again. */
  died?(node: SimulatedNode): void
}

export interface RunOptions {
  readonly tampering?: Tampering
  readonly print?: (line: string) => void
}

export function simulate(scenario: Scenario, options: RunOptions = {}): Promise<Report> {
  return timeless(() => new World(scenario, options).run())
}
