import type { CosignedHeads } from '../../../clients/witness/cosigned-heads.js'
import { jsonForm, jsonType } from '../http/answer-forms.js'
import type { PathRow } from '../http/path-row.js'
import { readParameter } from '../parameters.js'

/** Paths at which a witness shows what it has signed. */

export const witnessPrefix = '/witness/1/heads'

export function witnessPaths(heads: Pick<CosignedHeads, 'shown'>): PathRow[] {
  const row = (path: string): PathRow => ({
    path,
    methods: ['GET', 'HEAD'],
    form: jsonForm('light'),
    run: ({ segments }) => {
      const { height } = segments
      const at = height === undefined ? undefined : readParameter('height', 'height', height)
      return {
        headers: { 'content-type': jsonType, 'cache-control': 'no-store' },
        body: JSON.stringify(heads.shown(at)),
      }
    },
  })
  return [row(witnessPrefix), row(`${witnessPrefix}/:height`)]
}
