import { availableParallelism } from 'node:os'
import { slowness } from '../../test/support/patience.js'

/** Processors for four nodes, their users and attackers, where each node has what one of its own would give it. */
const processors = 8

/** By how much longer the work of a node takes here than on the machine that the promises are made for. */
export const slower = slowness()

/** How much of the load of the promises all processes of a soak can carry together on this machine: 1 for all of it. */
export const share = Math.min(1, availableParallelism() / (processors * slower))
