import { Type } from '@sinclair/typebox'
import { apiLimits } from '../api-limits.js'
import { didCount } from '../results/did-count.js'
import { didOperations } from '../results/did-operations.js'
import { pageParams, rowsUnasked } from '../schemas/common-schemas.js'
import { didCountSchema, listedOperations } from '../schemas/did-schemas.js'
import { method, type RpcMethod } from './method.js'

/** Methods that list operations on DIDs and count DIDs. */
export const didListMethods: readonly RpcMethod[] = [
  method({
    name: 'listdidoperations',
    lasts: 'chain',
    summary:
      `Operations on DIDs and credentials on the chain, newest first. A page examines at most ${apiLimits.pageBlocks} blocks or ` +
      `${apiLimits.pageBytes / 1024 / 1024} MiB, and names where the next one begins even if it found nothing.`,
    params: Type.Object(pageParams),
    result: listedOperations,
    run: (context, { before, limit = rowsUnasked }) => didOperations(context, { before, limit }),
  }),
  method({
    name: 'countdids',
    lasts: 'chain',
    summary: 'Numbers of DIDs at the tip: all, those not deactivated, expired ones included, and those deactivated.',
    result: didCountSchema,
    run: ({ reader }) => didCount(reader),
  }),
]
