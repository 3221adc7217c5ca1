import type { ApiContext } from '../api-context.js'
import { jsonForm } from '../http/answer-forms.js'
import type { PathRow } from '../http/path-row.js'
import { healthRoutes } from './health.js'
import { metricsRoute } from './metrics-route.js'
import { openApiRoute } from './openapi.js'
import type { PlainRoute } from './plain-route.js'

export const plainRoutes: readonly PlainRoute[] = [...healthRoutes, metricsRoute, openApiRoute(plainRoutesOf)]

/** The routes of the table that the REST port of a node has. */
export function plainRoutesOf({ metricsApart = false }: Pick<ApiContext, 'metricsApart'>): readonly PlainRoute[] {
  return metricsApart ? plainRoutes.filter((route) => route !== metricsRoute) : plainRoutes
}

/** Rows of routes. */
export function plainPaths(routes: readonly PlainRoute[], context: ApiContext): PathRow[] {
  return routes.map(({ path, ownSite = false, isProbe = false, answer }) => ({
    path,
    methods: ['GET'],
    form: jsonForm('standard'),
    ownSite,
    isProbe,
    run: async ({ query }) => {
      const { status, contentType, body } = await answer(context, query)
      // A cached state would be outdated.
      return { status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body }
    },
  }))
}
