import { availableParallelism } from 'node:os'
import { slowness } from '../../test/support/process/patience.js'

/** Processors for four nodes, their users and attackers, such that each node has its own share. */
const processors = 8

/** Factor by which a node's work takes longer here than on the machine of the documented figures. */
export const slower = slowness()

/** Share of the documented load that all processes of a soak can carry together on this machine: 1 for all of it. */
export const share = Math.min(1, availableParallelism() / (processors * slower))
